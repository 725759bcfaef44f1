package dev.idempotent.saga.crash;

import java.util.UUID;

import dev.idempotent.idempotency.Cancels;
import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.saga.crash.ChildApplication.Command;
import dev.idempotent.saga.crash.ChildApplication.Effects;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;

/**
 * The service that the sagas call.
 */
@Configuration(proxyBeanMethods = false)
@Import({ ChildApplication.class, ParticipantApplication.Participant.class })
class ParticipantApplication {

	@RestController
	static class Participant {

		private final Effects effects;

		Participant(Effects effects) {
			this.effects = effects;
		}

		@Idempotent(name = "place-hold", guarantee = Guarantee.TRANSACTION)
		@PostMapping("/hold")
		String hold(@RequestBody Command command) {
			return act("hold", command);
		}

		@Cancels("place-hold")
		@Idempotent(name = "release-hold", guarantee = Guarantee.TRANSACTION)
		@PostMapping("/release")
		String release(@RequestBody Command command) {
			return act("release", command);
		}

		@Idempotent(name = "charge", guarantee = Guarantee.TRANSACTION)
		@PostMapping("/charge")
		String charge(@RequestBody Command command) {
			return act("charge", command);
		}

		@Idempotent(name = "refund", guarantee = Guarantee.TRANSACTION)
		@PostMapping("/refund")
		String refund(@RequestBody Command command) {
			this.effects.add("refund", command.id(), command.ref());
			return command.ref();
		}

		@Idempotent(name = "notify", guarantee = Guarantee.TRANSACTION)
		@PostMapping("/notify")
		String notify(@RequestBody Command command) {
			return act("notify", command);
		}

		private String act(String kind, Command command) {
			String ref = UUID.randomUUID().toString();
			this.effects.add(kind, command.id(), ref);
			if (command.refuses(kind)) {
				throw new ResponseStatusException(HttpStatus.UNPROCESSABLE_CONTENT);
			}
			return ref;
		}

	}

}
