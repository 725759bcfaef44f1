package dev.idempotent.idempotency.method;

import dev.idempotent.idempotency.Fingerprint;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.IdempotencyResultException;
import dev.idempotent.idempotency.StoredResponse;
import dev.idempotent.idempotency.claim.TransactionalClaimant;

/**
 * A claim under {@link dev.idempotent.idempotency.Guarantee#TRANSACTION}, in a
 * transaction that is open once it was acquired.
 */
final class TransactionalMethodRun extends MethodRun {

	private final TransactionalClaimant claimant;

	TransactionalMethodRun(IdempotencyKey key, Fingerprint fingerprint, TransactionalClaimant claimant) {
		super(key, fingerprint, claimant);
		this.claimant = claimant;
	}

	@Override
	void enter(Participation participation) {
		super.enter(participation);
		if (!isJoined()) {
			throw new IllegalStateException(
					"The transaction of key " + key() + " does not tell its end. Let its manager "
							+ "synchronize transactions (setTransactionSynchronization), or use Guarantee.LEASE");
		}
	}

	/**
	 * The result counts from the moment at which it is in the transaction, which may end
	 * here.
	 */
	@Override
	void finish(StoredResponse result) {
		super.finish(result);
		this.claimant.commit(result);
	}

	@Override
	void fail() {
		this.claimant.rollback();
		super.fail();
	}

	@Override
	StoredResponse unkept(IdempotencyResultException failure) {
		throw failure;
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
		this.claimant.release();
	}

}
