package dev.idempotent.saga.crash;

import java.util.Objects;

import dev.idempotent.idempotency.ServiceResponse;
import dev.idempotent.saga.Saga;
import dev.idempotent.saga.SagaSteps;
import dev.idempotent.saga.StepRefusedException;
import dev.idempotent.saga.crash.ChildApplication.Command;
import dev.idempotent.saga.crash.ChildApplication.Effects;
import org.springframework.http.MediaType;
import org.springframework.web.client.RestClient;

/**
 * A saga with a step of each kind.
 */
class Checkout {

	static final String NAME = "checkout";

	private final SagaSteps saga;

	private final Effects effects;

	private final RestClient participant;

	Checkout(SagaSteps saga, Effects effects, RestClient participant) {
		this.saga = saga;
		this.effects = effects;
		this.participant = participant;
	}

	@Saga(name = NAME, key = "#command.id", timeout = "${crash.timeout}")
	public Receipt place(Command command) {
		this.saga.step("order").compensate(() -> this.effects.add("reject", command.id(), "")).runInTransaction(() -> {
			this.effects.add("order", command.id(), "");
			if (command.refuses("order")) {
				throw new StepRefusedException("not for sale");
			}
		});
		this.saga.step("hold").cancel(() -> call("release", command)).run(() -> call("hold", command));
		String charge = this.saga.step("charge", String.class)
			.provenBy(ServiceResponse::hasReceipt)
			.compensate((id) -> call("refund", command.withRef(id)))
			.run(() -> call("charge", command));
		if (command.plan().equals(Command.THROWS)) {
			throw new IllegalStateException("Not a transient failure");
		}
		this.saga.step("notify").provenBy(ServiceResponse::hasReceipt).run(() -> call("notify", command));
		HaltPoint.pass("before-end");
		return new Receipt(command.id(), charge);
	}

	private String call(String path, Command command) {
		HaltPoint.pass("before-" + path);
		String answer = this.participant.post()
			.uri("/" + path)
			.contentType(MediaType.APPLICATION_JSON)
			.body(command)
			.retrieve()
			.body(String.class);
		HaltPoint.pass("after-" + path);
		// The cancel of an action that never arrived has no content.
		return Objects.requireNonNullElse(answer, "");
	}

	/**
	 * The result of the saga.
	 *
	 * @param id its key
	 * @param charge the charge
	 */
	record Receipt(String id, String charge) {
	}

}
