package dev.idempotent.idempotency.web.transaction;

import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;

import dev.idempotent.idempotency.Cancels;
import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.idempotency.web.IdempotencyScopeResolver;
import dev.idempotent.testing.Gate;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;

/**
 * A participant: an action and its cancel, called by one service.
 */
@Configuration(proxyBeanMethods = false)
@EnableAutoConfiguration
@Import({ HoldApplication.HoldController.class, Works.class })
class HoldApplication {

	private static final String CALLER = "shop";

	@Bean
	IdempotencyScopeResolver oneCaller() {
		return (request) -> CALLER;
	}

	/**
	 * The stored form of a key of that caller.
	 */
	static IdempotencyKey keyOf(String key) {
		return IdempotencyKey.of(IdempotencyKey.Kind.HEADER, "test", CALLER, "", key);
	}

	/**
	 * An action and its cancel, each of which inserts a row and then ends in every way.
	 */
	@RestController
	static class HoldController {

		static final String RELEASED = "released-";

		private final Works works;

		private final AtomicInteger releases = new AtomicInteger();

		private volatile @Nullable Gate gate;

		HoldController(Works works) {
			this.works = works;
		}

		void holdUpAt(@Nullable Gate closed) {
			this.gate = closed;
		}

		int releases() {
			return this.releases.get();
		}

		@Idempotent(name = "place-hold", guarantee = Guarantee.TRANSACTION, lease = "3s", retention = "36h")
		@PostMapping("/holds/{ending}")
		ResponseEntity<?> place(@PathVariable String ending, @RequestParam String name) throws InterruptedException {
			this.works.write(name);
			return end(ending, Map.of("placed", name));
		}

		@Cancels("place-hold")
		@Idempotent(name = "release-hold", guarantee = Guarantee.TRANSACTION, lease = "3s")
		@PostMapping("/releases/{ending}")
		ResponseEntity<?> release(@PathVariable String ending, @RequestParam String name) throws InterruptedException {
			this.releases.incrementAndGet();
			this.works.write(RELEASED + name);
			return end(ending, Map.of("released", name));
		}

		private ResponseEntity<?> end(String ending, Map<String, String> body) throws InterruptedException {
			return switch (ending) {
				case "created" -> ResponseEntity.status(201).body(body);
				case "large" -> ResponseEntity.ok("x".repeat(20_000));
				case "refused" -> throw new ResponseStatusException(HttpStatus.UNPROCESSABLE_CONTENT);
				case "refused-large" -> throw new LargeRefusal();
				case "broken" -> throw new ResponseStatusException(HttpStatus.SERVICE_UNAVAILABLE);
				case "gate" -> pass(ResponseEntity.status(201).body(body));
				case "refused-gate" -> throw new ResponseStatusException(
						pass(ResponseEntity.status(HttpStatus.SERVICE_UNAVAILABLE).body(body)).getStatusCode());
				default -> throw new IllegalArgumentException(ending);
			};
		}

		@ExceptionHandler
		ResponseEntity<String> refuse(LargeRefusal refusal) {
			return ResponseEntity.unprocessableContent().body("x".repeat(20_000));
		}

		private ResponseEntity<?> pass(ResponseEntity<?> response) throws InterruptedException {
			Gate closed = this.gate;
			if (closed != null) {
				closed.pass();
			}
			return response;
		}

		/**
		 * Is turned into a response that is too long to be stored.
		 */
		private static final class LargeRefusal extends RuntimeException {

		}

	}

}
