package dev.idempotent.idempotency.method;

import dev.idempotent.idempotency.Fingerprint;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.IdempotencyResultException;
import dev.idempotent.idempotency.StoredResponse;
import dev.idempotent.idempotency.claim.Claimant;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A claim under {@link dev.idempotent.idempotency.Guarantee#LEASE}.
 */
final class LeaseMethodRun extends MethodRun {

	private static final Logger logger = LoggerFactory.getLogger(LeaseMethodRun.class);

	private final Claimant claimant;

	LeaseMethodRun(IdempotencyKey key, Fingerprint fingerprint, Claimant claimant) {
		super(key, fingerprint, claimant);
		this.claimant = claimant;
	}

	@Override
	StoredResponse unkept(IdempotencyResultException failure) {
		logger.error("The work of key {} is done, and its result cannot be replayed", key(), failure);
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
