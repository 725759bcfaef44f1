package dev.idempotent.idempotency.claim;

import java.time.Duration;

import dev.idempotent.idempotency.Claim;
import dev.idempotent.idempotency.Fingerprint;
import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.IdempotencyStoreException;
import dev.idempotent.idempotency.IdempotencyStoreUnavailableException;
import dev.idempotent.idempotency.StoredResponse;
import org.jspecify.annotations.Nullable;

/**
 * The database transactions of one operation under {@link Guarantee#TRANSACTION}, and the
 * records that they have left. An {@link IdempotencyStoreUnavailableException} says that
 * the database did not answer, any other {@link IdempotencyStoreException} that it cannot
 * keep the key.
 */
public interface IdempotencyTransactions {

	/**
	 * Begins a transaction and claims the key in it.
	 * @param key the key
	 * @param fingerprint what the request asks for
	 * @param token the claimant's token
	 * @param lease how long the record would hold the key, were it committed unfinished
	 * @param contended whether nothing has kept duplicates away from the database, so
	 * that those who may have to wait for another transaction are few at a time
	 * @return the transaction, which is open if its claim was acquired;
	 * {@link Claim.Pending} if another transaction held the key for longer than one waits
	 */
	Transaction begin(IdempotencyKey key, Fingerprint fingerprint, String token, Duration lease, boolean contended);

	/**
	 * Looks a committed record up, without waiting for anyone.
	 * @param key the key
	 * @param fingerprint what the request asks for
	 * @return what the record says, or {@code null} if there is none
	 */
	@Nullable Claim find(IdempotencyKey key, Fingerprint fingerprint);

	/**
	 * An open database transaction of the calling thread that began with the claim of a
	 * key, so that the key's record commits with the work or not at all. Ended by exactly
	 * one of {@link #commit} and {@link #rollback}, on the thread that began it.
	 */
	interface Transaction {

		/**
		 * The outcome of the claim with which the transaction began.
		 * @return the outcome; unless {@link Claim.Acquired} the transaction has ended
		 * already
		 */
		Claim outcome();

		/**
		 * Tells whether something in the work has given the transaction up.
		 * @return whether it can only be rolled back
		 */
		boolean isRollbackOnly();

		/**
		 * Tells whether a transaction around this one, which is that of a test, may undo
		 * what this one commits.
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

}
