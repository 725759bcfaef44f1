package dev.idempotent.idempotency.claim;

import java.util.List;

import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.IdempotencyContext;
import dev.idempotent.idempotency.IdempotencyObserver.Operation;

/**
 * Creates the claimants of the steps of runs under a lease.
 */
final class StepClaimants {

	/**
	 * A step is a part of its run, which is observed.
	 */
	private static final ObserverList NO_OBSERVERS = new ObserverList(List.of());

	private static final Operation STEP = new Operation(Operation.Kind.TEMPLATE, "step", Guarantee.LEASE);

	private final RunningClaims running = new RunningClaims();

	private final LeasedRuns runs;

	private final GuardedStore store;

	private final BackgroundWork background;

	private final LeaseRenewals renewals;

	private final ResponseEnvelope envelope;

	StepClaimants(LeasedRuns runs, GuardedStore store, BackgroundWork background, LeaseRenewals renewals,
			ResponseEnvelope envelope) {
		this.runs = runs;
		this.store = store;
		this.background = background;
		this.renewals = renewals;
		this.envelope = envelope;
	}

	/**
	 * Creates the claimant of a step of the run that the calling thread is in.
	 * @throws IllegalStateException if the thread is in no such run or already in a step,
	 * or if the run has had a step of this name
	 */
	StepClaimant of(String name) {
		LeasedRun run = this.runs.of(IdempotencyContext.current());
		ClaimRequest request = run.requestOf(name);
		StoreClaim claim = new StoreClaim(request, this.store, this.background, this.running, this.renewals);
		return new StepClaimant(run, request, claim, this.store,
				new ObservedClaim(NO_OBSERVERS, this.envelope, STEP, request.key()));
	}

}
