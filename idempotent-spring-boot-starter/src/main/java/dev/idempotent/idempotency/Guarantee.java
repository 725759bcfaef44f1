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
	 * The key's record commits in the transaction of the work itself. Not available in
	 * this version: using it stops the application at start-up.
	 */
	TRANSACTION

}
