package dev.idempotent.idempotency;

import java.time.Duration;

/**
 * Thrown when another run of the same key is in progress, or was when its process died.
 * The work was not run; retry the call later.
 */
public class IdempotencyPendingException extends RuntimeException {

	private final Duration retryAfter;

	/**
	 * Creates an exception.
	 * @param key the key that is claimed
	 * @param retryAfter the time after which the claim expires if its owner has died
	 */
	public IdempotencyPendingException(IdempotencyKey key, Duration retryAfter) {
		super("Another run of key " + key + " is in progress. Retry later: the result will be replayed, or the work "
				+ "run again if its process has died");
		this.retryAfter = retryAfter;
	}

	/**
	 * The time after which the claim expires if its owner has died.
	 * @return the remaining lease
	 */
	public Duration getRetryAfter() {
		return this.retryAfter;
	}

}
