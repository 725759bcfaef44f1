package dev.idempotent.idempotency;

import java.time.Duration;

/**
 * Thrown when a run of the same key is in progress, was in progress when its process
 * died, or has an unknown outcome, such as a step of a saga. Retry the call later.
 */
public class IdempotencyPendingException extends RuntimeException {

	private final Duration retryAfter;

	/**
	 * Creates an exception.
	 * @param key the key that is claimed
	 * @param retryAfter the time after which the claim expires if its owner has died
	 */
	public IdempotencyPendingException(IdempotencyKey key, Duration retryAfter) {
		super("A run of key " + key
				+ " is in progress, or its outcome is not known yet. Retry later: the result will be "
				+ "replayed, or the work run again if its process has died");
		this.retryAfter = retryAfter;
	}

	/**
	 * Creates an exception of a subclass.
	 * @param message what is pending
	 * @param retryAfter the time after which another call may have a result
	 */
	protected IdempotencyPendingException(String message, Duration retryAfter) {
		super(message);
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
