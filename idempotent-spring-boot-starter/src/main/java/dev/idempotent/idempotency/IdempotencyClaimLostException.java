package dev.idempotent.idempotency;

/**
 * The record of a key under {@link Guarantee#TRANSACTION} is lost: the database has
 * rolled its transaction back before it ended, or the work has ended it. What is left of
 * the work is rolled back; a retry runs again.
 */
public final class IdempotencyClaimLostException extends IdempotencyStoreException {

	/**
	 * Creates an exception.
	 * @param key the key whose record is gone
	 */
	public IdempotencyClaimLostException(IdempotencyKey key) {
		super("The transaction of key " + key + " was rolled back or ended while its work went on, so what followed "
				+ "was rolled back too. The usual cause is a deadlock whose exception the work has caught: let it "
				+ "leave the method, and retry from outside. Do not commit, roll back or run DDL within the work",
				null);
	}

}
