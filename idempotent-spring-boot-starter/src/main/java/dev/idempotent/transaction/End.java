package dev.idempotent.transaction;

/**
 * How a transaction has ended, as far as there is evidence.
 */
public enum End {

	/**
	 * It was committed with all that the participants have written.
	 */
	COMMITTED,

	/**
	 * Nothing of it was committed.
	 */
	ROLLED_BACK,

	/**
	 * Only the database knows.
	 */
	UNKNOWN

}
