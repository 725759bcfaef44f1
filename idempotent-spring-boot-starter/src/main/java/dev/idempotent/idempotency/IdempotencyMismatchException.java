package dev.idempotent.idempotency;

/**
 * A key was used before for something else. Nothing was run, and no repetition of the
 * call will be.
 */
public class IdempotencyMismatchException extends RuntimeException {

	/**
	 * Refuses a call.
	 * @param key the key that was used before
	 */
	public IdempotencyMismatchException(IdempotencyKey key) {
		super("Key " + key + " was used before with other arguments. Use a key of its own for each thing that is asked "
				+ "for, and leave out of the comparison (attribute 'ignore') what differs between retries");
	}

}
