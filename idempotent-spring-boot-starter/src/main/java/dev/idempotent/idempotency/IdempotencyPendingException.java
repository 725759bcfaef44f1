package dev.idempotent.idempotency;

import java.time.Duration;

/**
 * The same work runs at this moment under the same key, or did when its process fell
 * silent. Nothing was run; the call is to be repeated later.
 */
public class IdempotencyPendingException extends RuntimeException {

	private final Duration retryAfter;

	/**
	 * Refuses a call.
	 * @param key the key that is claimed
	 * @param retryAfter after which time the claim ends if its owner has died
	 */
	public IdempotencyPendingException(IdempotencyKey key, Duration retryAfter) {
		super("Key " + key + " is at work elsewhere. Call again later: the result will be replayed, or the work run if "
				+ "its process has died");
		this.retryAfter = retryAfter;
	}

	/**
	 * After which time the claim ends if its owner has died.
	 * @return the rest of its lease
	 */
	public Duration getRetryAfter() {
		return this.retryAfter;
	}

}
