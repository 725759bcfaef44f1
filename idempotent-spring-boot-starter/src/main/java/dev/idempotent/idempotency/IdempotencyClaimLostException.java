package dev.idempotent.idempotency;

/**
 * Thrown when the record of a key under {@link Guarantee#TRANSACTION} is lost: the
 * database rolled its transaction back, or the work ended it. The rest of the work is
 * rolled back; a retry runs again.
 */
public final class IdempotencyClaimLostException extends IdempotencyStoreException {

	/**
	 * Creates an exception.
	 * @param key the key whose record is lost
	 */
	public IdempotencyClaimLostException(IdempotencyKey key) {
		super("The transaction of key " + key + " was rolled back or ended before its work did, so the rest of the "
				+ "work was rolled back, too. The usual cause is a deadlock whose exception was caught within the work: "
				+ "let it leave the method, and retry from outside. Do not commit, roll back or run DDL within the work",
				null);
	}

}
