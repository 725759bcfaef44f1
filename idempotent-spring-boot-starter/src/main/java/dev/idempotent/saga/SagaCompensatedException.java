package dev.idempotent.saga;

import dev.idempotent.idempotency.IdempotencyKey;

/**
 * The saga did not complete, and the steps that had taken effect are undone. Every call
 * under its key throws this exception while the saga is retained. A saga whose first step
 * is refused in its transaction is not stored, so that another call runs it again.
 */
public class SagaCompensatedException extends RuntimeException {

	private final IdempotencyKey id;

	private final String reason;

	/**
	 * Creates an exception.
	 * @param id the id of the saga
	 * @param reason why it did not complete, such as the text of a
	 * {@link StepRefusedException} or the type of another exception; never the message of
	 * another exception
	 */
	public SagaCompensatedException(IdempotencyKey id, String reason) {
		super("The saga " + id + " was undone: " + reason);
		this.id = id;
		this.reason = reason;
	}

	/**
	 * The id of the saga.
	 * @return the id, which is safe to log
	 */
	public IdempotencyKey id() {
		return this.id;
	}

	/**
	 * Why the saga did not complete.
	 * @return the reason
	 */
	public String reason() {
		return this.reason;
	}

}
