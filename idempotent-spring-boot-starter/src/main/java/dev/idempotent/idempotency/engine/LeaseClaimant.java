package dev.idempotent.idempotency.engine;

import java.time.Duration;

import dev.idempotent.idempotency.Claim;
import dev.idempotent.idempotency.IdempotencyObserver;
import dev.idempotent.idempotency.IdempotencyObserver.Operation;
import dev.idempotent.idempotency.IdempotencyObserver.Outcome;
import dev.idempotent.idempotency.StoredResponse;
import org.jspecify.annotations.Nullable;

/**
 * Claims a key in the store that decides.
 */
final class LeaseClaimant extends Claimant {

	private final LeasedKey claim;

	private final InFlightKeys running;

	private final RunRegistry runs;

	private final @Nullable DerivationRoot root;

	private volatile RunRegistry.@Nullable Run run;

	LeaseClaimant(Operation operation, IdempotencyObserver observer, ResponseEnvelope envelope, LeasedKey claim,
			InFlightKeys running, RunRegistry runs, @Nullable DerivationRoot root) {
		super(operation, observer, envelope);
		this.claim = claim;
		this.running = running;
		this.runs = runs;
		this.root = root;
		if (root != null) {
			root.bind(this::ownsKey, claim::isUnprotected);
		}
	}

	@Override
	ClaimRequest request() {
		return this.claim.request();
	}

	@Override
	Claim claimOnce() {
		long start = System.nanoTime();
		Claim outcome = this.claim.claim();
		if (outcome.isAcquired()) {
			RunRegistry.Run begun = new RunRegistry.Run(this.claim, start);
			this.runs.begin(begun);
			this.run = begun;
		}
		return outcome;
	}

	@Override
	Claim claimRepeatedly(Duration timeout) {
		return this.running.await(request().key(), claimOnce(), this::claimOnce, timeout);
	}

	@Override
	public void complete(StoredResponse response) {
		if (isMismatched()) {
			// The key belongs to the request that has recorded the step.
			release();
			return;
		}
		endRun();
		if (this.root != null) {
			this.root.runEnds();
		}
		StoredResponse encrypted = envelope().encryptOrDrop(request(), response);
		this.claim.complete(encrypted, request().retention());
		if (this.claim.isUnprotected()) {
			decide(Outcome.RUN_UNPROTECTED);
		}
		decideRun(encrypted.isKept() ? response : encrypted);
	}

	@Override
	public void release() {
		if (this.root != null) {
			this.root.runFails();
		}
		endRun();
		this.claim.release();
		decide(isMismatched() ? Outcome.MISMATCHED : Outcome.RELEASED);
	}

	@Override
	public void stopRenewal() {
		endRun();
		this.claim.stopRenewal();
	}

	@Override
	public void settleUnknown() {
		stopRenewal();
		decide(Outcome.UNKNOWN);
	}

	private boolean ownsKey() {
		RunRegistry.Run begun = this.run;
		return begun == null || begun.confirm();
	}

	private boolean isMismatched() {
		RunRegistry.Run begun = this.run;
		return begun != null && begun.isMismatched();
	}

	private void endRun() {
		RunRegistry.Run begun = this.run;
		if (begun != null) {
			this.runs.end(begun);
		}
	}

}
