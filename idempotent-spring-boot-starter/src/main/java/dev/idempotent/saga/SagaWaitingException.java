package dev.idempotent.saga;

import java.time.Duration;

import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.IdempotencyPendingException;

/**
 * Thrown to the caller of a {@link Saga} that waits for a signal or for some time. The
 * saga goes on in the background; a later call with the same key returns its result.
 */
public class SagaWaitingException extends IdempotencyPendingException {

	private final IdempotencyKey id;

	private final String wait;

	/**
	 * Creates an exception.
	 * @param id the id of the saga
	 * @param wait the name of the wait
	 * @param left how long the wait lasts at most
	 * @param retryAfter the time after which another call may have a result
	 */
	public SagaWaitingException(IdempotencyKey id, String wait, Duration left, Duration retryAfter) {
		super("Saga " + id + " waits for '" + wait + "', for at most another " + left
				+ ". It goes on in the background: call it again later to get its result", retryAfter);
		this.id = id;
		this.wait = wait;
	}

	/**
	 * The id of the saga.
	 * @return the id, to which a signal can be sent
	 */
	public IdempotencyKey id() {
		return this.id;
	}

	/**
	 * The name of the wait.
	 * @return the name of the signal, or of the sleep
	 */
	public String waitsFor() {
		return this.wait;
	}

}
