package dev.idempotent.idempotency;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

/**
 * Thrown when a key was used before for another call. The work was not run. While the
 * other call is in progress, its end may free the key; once it is done, a retry of this
 * call will fail in the same way.
 */
public class IdempotencyMismatchException extends RuntimeException {

	private final @Nullable Duration retryAfter;

	/**
	 * Creates an exception for a key whose other call is done, or is a saga.
	 * @param key the key that was used before
	 */
	public IdempotencyMismatchException(IdempotencyKey key) {
		this(key, null);
	}

	/**
	 * Creates an exception.
	 * @param key the key that was used before
	 * @param retryAfter the time after which the claim of the other call expires if its
	 * owner has died; {@code null} if that call is done
	 */
	public IdempotencyMismatchException(IdempotencyKey key, @Nullable Duration retryAfter) {
		super((retryAfter == null) ? "Key " + key + " was used before for a call with other arguments. "
				+ "This call was not run. Derive the key from what distinguishes two calls, and leave what differs "
				+ "between retries of one call out of its arguments"
				: "Key " + key
						+ " is in use for a call with other arguments, which is in progress or whose process has "
						+ "died. This call was not run");
		this.retryAfter = retryAfter;
	}

	/**
	 * The time after which the claim of the other call expires if its owner has died. A
	 * message must not be settled before.
	 * @return the remaining lease, or {@code null} if that call is done
	 */
	public @Nullable Duration getRetryAfter() {
		return this.retryAfter;
	}

}
