package dev.idempotent.idempotency.engine;

/**
 * Thrown when the database confirms that a transaction was rolled back after a failed
 * commit. The cause is the failure.
 */
public class WorkRolledBackException extends RuntimeException {

	WorkRolledBackException(Throwable cause) {
		super("The transaction of a key was rolled back", cause);
	}

}
