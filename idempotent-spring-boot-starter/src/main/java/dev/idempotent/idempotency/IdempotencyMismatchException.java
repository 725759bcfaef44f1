package dev.idempotent.idempotency;

/**
 * Thrown when a key was used before for another call. The work was not run; a retry of
 * the call will fail in the same way.
 */
public class IdempotencyMismatchException extends RuntimeException {

	/**
	 * Creates an exception.
	 * @param key the key that was used before
	 */
	public IdempotencyMismatchException(IdempotencyKey key) {
		super("Key " + key + " was used before with other arguments. Use a different key for each call, and exclude "
				+ "arguments that differ between retries from the comparison (attribute 'ignore')");
	}

}
