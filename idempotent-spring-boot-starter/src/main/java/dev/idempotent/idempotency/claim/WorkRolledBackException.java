package dev.idempotent.idempotency.claim;

/**
 * A transaction was not committed, as the database says; nothing of its work was done.
 * The cause is what failed.
 */
public class WorkRolledBackException extends RuntimeException {

	WorkRolledBackException(Throwable cause) {
		super("The transaction of a key was not committed", cause);
	}

}
