package dev.idempotent.idempotency;

/**
 * The failures after which the work is still done only once.
 */
public enum Guarantee {

	/**
	 * The guarantee of the property {@code idempotent.guarantee}.
	 */
	DEFAULT,

	/**
	 * The store alone decides. The work can run twice only if its process dies after the
	 * work has committed, or if the store loses data.
	 */
	LEASE,

	/**
	 * The record of the key commits in the database transaction of the work itself: the
	 * work commits once, and a retry gets its response, whichever process or store fails.
	 * Needs a transaction manager, and a handler that responds before it returns. Work
	 * whose response is not stored is rolled back.
	 */
	TRANSACTION

}
