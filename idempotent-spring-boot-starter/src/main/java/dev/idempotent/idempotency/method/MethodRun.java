package dev.idempotent.idempotency.method;

import java.time.Duration;

import dev.idempotent.idempotency.Claim;
import dev.idempotent.idempotency.Fingerprint;
import dev.idempotent.idempotency.IdempotencyContext;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.IdempotencyResultException;
import dev.idempotent.idempotency.StoredResponse;
import dev.idempotent.idempotency.claim.Claimant;
import dev.idempotent.idempotency.claim.TransactionalClaimant;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One run under a key: claims the key, then completes it with a result or releases it. In
 * a transaction of the caller, the key is settled when that transaction has ended.
 */
class MethodRun {

	private static final Logger logger = LoggerFactory.getLogger(MethodRun.class);

	private final IdempotencyKey key;

	private final Fingerprint fingerprint;

	private final Claimant claimant;

	private ClaimSynchronization.@Nullable Run joined;

	private boolean nested;

	MethodRun(IdempotencyKey key, Fingerprint fingerprint, Claimant claimant) {
		this.key = key;
		this.fingerprint = fingerprint;
		this.claimant = claimant;
	}

	/**
	 * Claims the key.
	 * @param timeout how long to wait for another run, or {@code null} not to wait
	 */
	Claim claim(@Nullable Duration timeout) {
		return (timeout != null) ? this.claimant.claimOrWait(timeout) : this.claimant.claim();
	}

	/**
	 * Joins the open transaction, if the work participates in it.
	 */
	void join(MethodOperation.Participation participation) {
		this.nested = participation == MethodOperation.Participation.NESTED;
		this.joined = (participation == MethodOperation.Participation.INDEPENDENT) ? null
				: ClaimSynchronization.join(this.key, this.fingerprint, this.claimant);
	}

	IdempotencyContext context() {
		return this.claimant.context();
	}

	/**
	 * Completes the key with a result, once the work is committed.
	 */
	void complete(StoredResponse result) {
		if (this.joined != null) {
			this.joined.complete(result);
		}
		else {
			this.claimant.complete(result);
		}
	}

	/**
	 * Releases the key, once the work is rolled back.
	 */
	void release() {
		if (this.joined == null) {
			this.claimant.release();
		}
		else if (this.nested) {
			this.joined.release();
		}
	}

	/**
	 * Returns what to store instead of a result that cannot be written.
	 * @throws IdempotencyResultException if the work can be rolled back instead
	 */
	StoredResponse replaceUnwritable(IdempotencyResultException failure) {
		logger.error("The work of key {} has been done, but its result cannot be replayed", this.key, failure);
		return StoredResponse.notKept();
	}

	/**
	 * A run under {@link dev.idempotent.idempotency.Guarantee#TRANSACTION}, in a
	 * transaction that is open once the key is acquired.
	 */
	static final class InTransaction extends MethodRun {

		private final TransactionalClaimant claimant;

		InTransaction(IdempotencyKey key, Fingerprint fingerprint, TransactionalClaimant claimant) {
			super(key, fingerprint, claimant);
			this.claimant = claimant;
		}

		@Override
		void join(MethodOperation.Participation participation) {
			super.join(participation);
			if (super.joined == null) {
				throw new IllegalStateException("The transaction of key " + super.key
						+ " does not support synchronization, so its outcome would go unnoticed. Enable it on the "
						+ "transaction manager (setTransactionSynchronization), or use Guarantee.LEASE");
			}
		}

		/**
		 * Registers the result first, as the transaction may commit here.
		 */
		@Override
		void complete(StoredResponse result) {
			super.complete(result);
			this.claimant.commit(result);
		}

		@Override
		void release() {
			this.claimant.rollback();
			super.release();
		}

		@Override
		StoredResponse replaceUnwritable(IdempotencyResultException failure) {
			throw failure;
		}

	}

}
