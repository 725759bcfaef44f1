package dev.idempotent.idempotency.claim;

import java.time.Duration;

import dev.idempotent.idempotency.Claim;
import dev.idempotent.idempotency.StoredResponse;

/**
 * An open database transaction of the calling thread that began with the claim of a key,
 * so that the key's record commits with the work or not at all. Ended by exactly one of
 * {@link #commit} and {@link #rollback}, on the thread that began it.
 */
public interface IdempotencyTransaction {

	/**
	 * The outcome of the claim with which the transaction began.
	 * @return the claim; unless {@link Claim.Acquired} the transaction has ended already
	 */
	Claim claim();

	/**
	 * Tells whether something in the work has given the transaction up.
	 * @return whether it can only be rolled back
	 */
	boolean isRollbackOnly();

	/**
	 * Tells whether a transaction around this one, which is that of a test, may undo what
	 * this one commits.
	 * @return {@code false} outside of tests
	 */
	default boolean isProvisional() {
		return false;
	}

	/**
	 * Writes what the work has left to be written, completes the record, and commits.
	 * @param response the answer to keep
	 * @param retention for how long, at least one millisecond
	 * @throws RuntimeException if any of it failed: the transaction has ended, and
	 * whether it was committed is to be asked of the database
	 */
	void commit(StoredResponse response, Duration retention);

	/**
	 * Undoes everything, the claim with it. Never throws: a database that cannot be
	 * reached does it by itself.
	 */
	void rollback();

}
