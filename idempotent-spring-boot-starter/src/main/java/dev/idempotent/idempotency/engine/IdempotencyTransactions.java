package dev.idempotent.idempotency.engine;

import java.lang.reflect.Method;
import java.time.Duration;
import java.util.List;

import dev.idempotent.IdempotentConfigurationException;
import dev.idempotent.idempotency.Claim;
import dev.idempotent.idempotency.Fingerprint;
import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.IdempotencyStore;
import dev.idempotent.idempotency.IdempotencyStoreException;
import dev.idempotent.idempotency.IdempotencyStoreUnavailableException;
import dev.idempotent.idempotency.StoredResponse;
import org.jspecify.annotations.Nullable;

/**
 * The database transactions of one operation under {@link Guarantee#TRANSACTION}. Throws
 * {@link IdempotencyStoreUnavailableException} if the database is unreachable, and any
 * other {@link IdempotencyStoreException} if it cannot store the key.
 */
public interface IdempotencyTransactions {

	/**
	 * Begins a transaction and claims the key in it.
	 * @param key the key
	 * @param fingerprint the fingerprint of the request
	 * @param token the claimant's token
	 * @param lease how long the record would claim the key if it were committed
	 * incomplete
	 * @param contended whether no store in front of the database refuses duplicates, so
	 * that the number of claims that may wait for another transaction must be limited
	 * @return the transaction, which is open if the key was acquired; its outcome is
	 * {@link Claim.Pending} if another transaction held the key for longer than the lock
	 * timeout
	 */
	Transaction begin(IdempotencyKey key, Fingerprint fingerprint, String token, Duration lease, boolean contended);

	/**
	 * Looks up a committed record without waiting for other transactions.
	 * @param key the key
	 * @param fingerprint the fingerprint of the request
	 * @return the outcome on record, or {@code null} if there is none
	 */
	@Nullable Claim find(IdempotencyKey key, Fingerprint fingerprint);

	/**
	 * Returns whether the database of an earlier transaction is the one that is there
	 * now, so that it still has what that transaction has committed.
	 * @param epoch the {@linkplain Transaction#epoch() epoch} of that transaction
	 * @return {@code false} also if that is not known
	 */
	boolean isCurrent(@Nullable String epoch);

	/**
	 * Completes another key in the transaction that {@link #begin} has opened on the
	 * calling thread, unless that key is claimed or completed.
	 * @param key the key
	 * @param fingerprint the fingerprint to store
	 * @param token the claimant's token
	 * @param response the response to store
	 * @param retention how long to keep it
	 * @return {@link Claim.Acquired} if it was stored, or the outcome on record;
	 * {@link Claim.Pending} if another transaction held the key for longer than the lock
	 * timeout: the open transaction must then be rolled back
	 */
	Claim completeIfFree(IdempotencyKey key, Fingerprint fingerprint, String token, StoredResponse response,
			Duration retention);

	/**
	 * Returns whether transactions are begun by the same manager on the same database.
	 * @param other the other transactions
	 * @return whether keys of both can be completed in one transaction
	 */
	boolean isSameResource(IdempotencyTransactions other);

	/**
	 * Completes another key at once, whether or not the transaction of the calling thread
	 * commits, unless another token has claimed or completed it. What the token has
	 * completed is kept for at least the retention from now on.
	 * @param key the key
	 * @param fingerprint the fingerprint to store
	 * @param token the claimant's token
	 * @param response the response to store
	 * @param retention how long to keep it
	 * @return {@link Claim.Acquired} if the token has completed it, or the outcome on
	 * record; {@link Claim.Pending} if another transaction held the key for longer than
	 * the lock timeout
	 */
	Claim completeAtOnce(IdempotencyKey key, Fingerprint fingerprint, String token, StoredResponse response,
			Duration retention);

	/**
	 * A database transaction of the calling thread that begins with the claim of a key,
	 * so that the key's record commits with the work or not at all. Ended by one call of
	 * {@link #commit} or {@link #rollback} on the same thread.
	 */
	interface Transaction {

		/**
		 * The outcome of the claim.
		 * @return the outcome; unless it is {@link Claim.Acquired}, the transaction has
		 * ended
		 */
		Claim outcome();

		/**
		 * Returns whether the work has marked the transaction as rollback-only.
		 * @return whether it can only be rolled back
		 */
		boolean isRollbackOnly();

		/**
		 * Identifies the database server from its start to its end. What it has committed
		 * may be lost when that ends.
		 * @return the epoch of the server that has claimed the key, or {@code null} if it
		 * is not known
		 */
		default @Nullable String epoch() {
			return null;
		}

		/**
		 * Returns whether the transaction of a test surrounds this one and may roll back
		 * what this one commits.
		 * @return {@code false} outside of tests
		 */
		default boolean isProvisional() {
			return false;
		}

		/**
		 * Flushes the work, so that its result is what is committed.
		 */
		default void flushWork() {
		}

		/**
		 * Flushes the work, completes the record, and commits.
		 * @param response the response to store
		 * @param retention how long to keep it, at least one millisecond
		 * @throws RuntimeException if any of that failed: the transaction has ended, and
		 * only the database knows whether it was committed
		 */
		void commit(StoredResponse response, Duration retention);

		/**
		 * Returns whether a commit that was reported has taken place: a database may have
		 * rolled back instead. To be called after the end of the transaction.
		 * @return {@code false} also if that is not known
		 */
		boolean isConfirmed();

		/**
		 * Returns whether it is unknown how a transaction that has ended did so.
		 * @return {@code false} also in a transaction of the caller
		 */
		default boolean isInDoubt() {
			return false;
		}

		/**
		 * Rolls back the work and the claim. Never throws: if the database is
		 * unreachable, it rolls back when the connection ends.
		 */
		void rollback();

	}

	/**
	 * Thrown when the database confirms that a transaction was rolled back after a failed
	 * commit. The cause is the failure.
	 */
	class WorkRolledBackException extends RuntimeException {

		WorkRolledBackException(Throwable cause) {
			super("The transaction of a key was rolled back", cause);
		}

	}

	/**
	 * Finds the transactions in which the methods of an application run.
	 */
	interface IdempotencyTransactionSource {

		/**
		 * Finds the transactions of a method that begins its own, with its own
		 * transaction attributes.
		 * @param type the target class
		 * @param method the method
		 * @return its transactions
		 * @throws IdempotentConfigurationException if it does not support
		 * {@link Guarantee#TRANSACTION}
		 */
		IdempotencyTransactions transactionsOf(Class<?> type, Method method);

		/**
		 * Finds the transactions of a method that joins the transaction of its caller, or
		 * begins one if there is none.
		 * @param type the target class
		 * @param method the method
		 * @return its transactions
		 * @throws IdempotentConfigurationException if it does not support
		 * {@link Guarantee#TRANSACTION}
		 */
		IdempotencyTransactions joiningTransactionsOf(Class<?> type, Method method);

		/**
		 * Finds the transactions of code that joins the transaction of its caller, or
		 * begins one if there is none.
		 * @param described describes the code in messages
		 * @return its transactions
		 * @throws IdempotentConfigurationException if it does not support
		 * {@link Guarantee#TRANSACTION}
		 */
		IdempotencyTransactions joiningTransactions(String described);

		/**
		 * Returns whether the transactions are transactions of a database.
		 * @return {@code false} in a test without one
		 */
		default boolean isTransactional() {
			return true;
		}

		/**
		 * The committed records of all transactions that were found so far, for
		 * operators.
		 * @return one store for each database
		 */
		default List<IdempotencyStore> records() {
			return List.of();
		}

	}

}
