package dev.idempotent.saga;

import dev.idempotent.idempotency.IdempotencyKey;

/**
 * The saga is halted: it could neither be completed nor undone, and an operator must
 * decide.
 */
public class SagaHaltedException extends RuntimeException {

	private final IdempotencyKey id;

	/**
	 * Creates an exception.
	 * @param id the id of the saga
	 */
	public SagaHaltedException(IdempotencyKey id) {
		super("The saga " + id + " is halted and needs an operator. The endpoint 'saga' shows the reason");
		this.id = id;
	}

	/**
	 * The id of the saga.
	 * @return the id, which is safe to log
	 */
	public IdempotencyKey id() {
		return this.id;
	}

}
