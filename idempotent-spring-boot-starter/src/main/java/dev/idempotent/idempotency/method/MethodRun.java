package dev.idempotent.idempotency.method;

import java.time.Duration;

import dev.idempotent.idempotency.Claim;
import dev.idempotent.idempotency.Fingerprint;
import dev.idempotent.idempotency.IdempotencyContext;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.IdempotencyResultException;
import dev.idempotent.idempotency.StoredResponse;
import dev.idempotent.idempotency.claim.Claimant;
import dev.idempotent.idempotency.claim.JoiningClaimant;
import dev.idempotent.idempotency.claim.LeaseClaimant;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One run under a key: claims the key, then completes it with a result or releases it. In
 * a transaction of the caller, the key is settled when that transaction has ended.
 */
abstract class MethodRun implements ClaimSynchronization.Settlement {

	private final IdempotencyKey key;

	private final Fingerprint fingerprint;

	private final Claimant claimant;

	private ClaimSynchronization.@Nullable Run joined;

	private boolean releasedByFailure;

	private MethodRun(IdempotencyKey key, Fingerprint fingerprint, Claimant claimant) {
		this.key = key;
		this.fingerprint = fingerprint;
		this.claimant = claimant;
	}

	/**
	 * Claims the key.
	 * @param patience how long to wait for another run, or {@code null} not to wait
	 */
	Claim claim(@Nullable Duration patience) {
		return (patience != null) ? this.claimant.claimOrWait(patience) : this.claimant.claim();
	}

	/**
	 * Joins the open transaction, if the work takes part in it.
	 */
	void join(Operation.Participation participation) {
		this.releasedByFailure = participation == Operation.Participation.NESTED;
		this.joined = (participation == Operation.Participation.INDEPENDENT) ? null
				: ClaimSynchronization.join(this.key, this.fingerprint, this);
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
			committed(result);
		}
	}

	/**
	 * Releases the key, once the work is rolled back.
	 */
	void release() {
		if (this.joined == null) {
			rolledBack();
		}
		else if (this.releasedByFailure) {
			this.joined.release();
		}
	}

	/**
	 * Returns what to store instead of a result that cannot be written.
	 * @throws IdempotencyResultException if the work can be rolled back instead
	 */
	abstract StoredResponse unwritable(IdempotencyResultException failure);

	/**
	 * A run under {@link dev.idempotent.idempotency.Guarantee#LEASE}.
	 */
	static final class UnderLease extends MethodRun {

		private static final Logger logger = LoggerFactory.getLogger(MethodRun.class);

		private final LeaseClaimant claimant;

		UnderLease(IdempotencyKey key, Fingerprint fingerprint, LeaseClaimant claimant) {
			super(key, fingerprint, claimant);
			this.claimant = claimant;
		}

		@Override
		StoredResponse unwritable(IdempotencyResultException failure) {
			logger.error("The work of key {} has been done, but its result cannot be replayed", super.key, failure);
			return StoredResponse.notKept();
		}

		@Override
		public void committed(StoredResponse result) {
			this.claimant.complete(result);
		}

		@Override
		public void rolledBack() {
			this.claimant.release();
		}

		@Override
		public void unknown() {
			this.claimant.stopRenewal();
		}

	}

	/**
	 * A run under {@link dev.idempotent.idempotency.Guarantee#TRANSACTION}, in a
	 * transaction that is open once the key is acquired.
	 */
	static final class InTransaction extends MethodRun {

		private final JoiningClaimant claimant;

		InTransaction(IdempotencyKey key, Fingerprint fingerprint, JoiningClaimant claimant) {
			super(key, fingerprint, claimant);
			this.claimant = claimant;
		}

		@Override
		void join(Operation.Participation participation) {
			super.join(participation);
			if (super.joined == null) {
				throw new IllegalStateException("The transaction of key " + super.key
						+ " does not support synchronization, so its outcome would go unnoticed. Enable it on the "
						+ "transaction manager (setTransactionSynchronization), or use Guarantee.LEASE");
			}
		}

		/**
		 * Hands the result over before the transaction gets it, as that may commit here.
		 */
		@Override
		void complete(StoredResponse result) {
			super.complete(result);
			this.claimant.complete(result);
		}

		@Override
		void release() {
			this.claimant.abandon();
			super.release();
		}

		@Override
		StoredResponse unwritable(IdempotencyResultException failure) {
			throw failure;
		}

		@Override
		public void committed(StoredResponse result) {
			this.claimant.committed(result);
		}

		@Override
		public void rolledBack() {
			this.claimant.release();
		}

		@Override
		public void unknown() {
			this.claimant.release();
		}

	}

}
