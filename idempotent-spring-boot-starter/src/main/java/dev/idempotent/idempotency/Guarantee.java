package dev.idempotent.idempotency;

/**
 * What may fail without the work being done twice.
 */
public enum Guarantee {

	/**
	 * The guarantee that {@code idempotent.guarantee} names.
	 */
	DEFAULT,

	/**
	 * The store alone decides. Work can be done twice only if its owner dies after its
	 * own commit, or if the store forgets.
	 */
	LEASE,

	/**
	 * The record of the key commits in the database transaction of the work itself:
	 * whatever dies or is forgotten, the work is done once, and a retry gets its answer.
	 * Needs a transaction manager, and a handler that answers before it returns. Work
	 * that does not end in an answer which is stored is rolled back.
	 */
	TRANSACTION

}
