package dev.idempotent.idempotency.claim;

import java.time.Duration;

import dev.idempotent.idempotency.Claim;
import dev.idempotent.idempotency.IdempotencyContext;
import dev.idempotent.idempotency.IdempotencyObserver.Outcome;
import dev.idempotent.idempotency.StoredResponse;
import org.jspecify.annotations.Nullable;

/**
 * Claims a key in the store that decides.
 */
final class LeaseClaimant implements Claimant {

	private final ClaimRequest request;

	private final StoreClaim claim;

	private final RunningClaims running;

	private final LeasedRuns leased;

	private final ObservedClaim observed;

	private long claimed;

	private volatile @Nullable LeasedRun run;

	LeaseClaimant(ClaimRequest request, StoreClaim claim, RunningClaims running, LeasedRuns leased,
			ObservedClaim observed) {
		this.request = request;
		this.claim = claim;
		this.running = running;
		this.leased = leased;
		this.observed = observed;
	}

	@Override
	public Claim claim() {
		return begun(this.observed.claim(this::claimOnce));
	}

	@Override
	public Claim claimOrWait(Duration timeout) {
		return begun(this.observed
			.claim(() -> this.running.await(this.request.key(), claimOnce(), this::claimOnce, timeout)));
	}

	private Claim claimOnce() {
		this.claimed = System.nanoTime();
		return this.claim.claim();
	}

	private Claim begun(Claim outcome) {
		if (outcome.isAcquired()) {
			LeasedRun begun = new LeasedRun(this.request, this.claim, this.claimed);
			this.leased.begin(begun);
			this.run = begun;
		}
		return outcome;
	}

	@Override
	public IdempotencyContext context() {
		return this.request.context();
	}

	@Override
	public void complete(StoredResponse response) {
		if (isMismatched()) {
			// The key belongs to the request that has recorded the step.
			release();
			return;
		}
		endRun();
		StoredResponse closed = this.observed.closeOrDrop(this.request, response);
		this.claim.complete(closed, this.request.retention());
		if (this.claim.isUnprotected()) {
			this.observed.decide(Outcome.RUN_UNPROTECTED);
		}
		this.observed.decideRun(closed.isKept() ? response : closed);
	}

	@Override
	public void release() {
		endRun();
		this.claim.release();
		this.observed.decide(isMismatched() ? Outcome.MISMATCHED : Outcome.RELEASED);
	}

	@Override
	public void stopRenewal() {
		endRun();
		this.claim.stopRenewal();
	}

	@Override
	public void settleUnknown() {
		endRun();
		this.claim.stopRenewal();
		this.observed.decide(Outcome.UNKNOWN);
	}

	private boolean isMismatched() {
		LeasedRun begun = this.run;
		return begun != null && begun.isMismatched();
	}

	private void endRun() {
		LeasedRun begun = this.run;
		if (begun != null) {
			this.leased.end(begun);
		}
	}

}
