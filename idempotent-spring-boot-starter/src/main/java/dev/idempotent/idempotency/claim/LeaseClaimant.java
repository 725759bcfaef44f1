package dev.idempotent.idempotency.claim;

import java.time.Duration;

import dev.idempotent.idempotency.Claim;
import dev.idempotent.idempotency.IdempotencyContext;
import dev.idempotent.idempotency.IdempotencyObserver.Outcome;
import dev.idempotent.idempotency.StoredResponse;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Claims a key in the store that decides.
 */
final class LeaseClaimant implements Claimant {

	private static final Logger logger = LoggerFactory.getLogger(LeaseClaimant.class);

	private final ClaimRequest request;

	private final StoreClaim claim;

	private final RunningClaims running;

	private final ObservedClaim observed;

	LeaseClaimant(ClaimRequest request, StoreClaim claim, RunningClaims running, ObservedClaim observed) {
		this.request = request;
		this.claim = claim;
		this.running = running;
		this.observed = observed;
	}

	@Override
	public Claim claim() {
		return this.observed.claim(this.claim::claim);
	}

	@Override
	public Claim claimOrWait(Duration timeout) {
		return this.observed
			.claim(() -> this.running.await(this.request.key(), this.claim.claim(), this.claim::claim, timeout));
	}

	@Override
	public IdempotencyContext context() {
		return this.request.context();
	}

	@Override
	public void complete(StoredResponse response) {
		StoredResponse closed = close(response);
		this.claim.complete(closed, this.request.retention());
		if (this.claim.isUnprotected()) {
			this.observed.decide(Outcome.RUN_UNPROTECTED);
		}
		this.observed.decideRun(closed.isKept() ? response : closed);
	}

	@Override
	public void release() {
		this.claim.release();
		this.observed.decide(Outcome.RELEASED);
	}

	@Override
	public void stopRenewal() {
		this.claim.stopRenewal();
	}

	@Override
	public void settleUnknown() {
		this.claim.stopRenewal();
		this.observed.decide(Outcome.UNKNOWN);
	}

	/**
	 * The work is done, so a failure to encrypt must not free the key.
	 */
	private StoredResponse close(StoredResponse response) {
		try {
			return this.observed.close(this.request, response);
		}
		// A library of a cipher may be missing. The message could contain a part of the
		// response.
		catch (RuntimeException | Error ex) {
			logger.error(
					"The response of key {} could not be encrypted ({}); only the fact that the work was done is stored",
					this.request.key(), ex.getClass().getName());
			logger.debug("The stack trace of the failure above", ex);
			return StoredResponse.notKept();
		}
	}

}
