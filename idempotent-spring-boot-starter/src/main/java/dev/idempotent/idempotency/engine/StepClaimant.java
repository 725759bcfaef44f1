package dev.idempotent.idempotency.engine;

import java.time.Duration;
import java.util.function.Supplier;

import dev.idempotent.idempotency.Claim;
import dev.idempotent.idempotency.IdempotencyContext;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.IdempotencyMismatchException;
import dev.idempotent.idempotency.IdempotencyPendingException;
import dev.idempotent.idempotency.IdempotencyStoreException;
import dev.idempotent.idempotency.StoredKey;
import dev.idempotent.idempotency.StoredResponse;
import org.jspecify.annotations.Nullable;

/**
 * Claims a step of a run under a lease. The run that owns its key takes over the claim
 * that an earlier run has left on the step. An acquired step is settled once, by
 * {@link #complete} or {@link #release}.
 */
final class StepClaimant {

	private final RunRegistry.Run run;

	private final LeasedKey claim;

	private final ObservedStore store;

	private final ResponseEnvelope envelope;

	/**
	 * Creates a claimant.
	 * @param claim claims the {@linkplain RunRegistry.Run#requestOf request} of the step
	 */
	StepClaimant(RunRegistry.Run run, LeasedKey claim, ObservedStore store, ResponseEnvelope envelope) {
		this.run = run;
		this.claim = claim;
		this.store = store;
		this.envelope = envelope;
	}

	/**
	 * Runs the step in a context of its own and records its result, or returns the
	 * recorded one.
	 * @throws IdempotencyPendingException if another run owns the key by now
	 * @throws IdempotencyMismatchException if the step was recorded for another request
	 * @throws IdempotencyStoreException if the store is unreachable or cannot use the key
	 */
	StoredResponse runOrReplay(Supplier<StoredResponse> work) {
		StoredResponse recorded = claim();
		if (recorded != null) {
			return recorded;
		}
		IdempotencyContext outer = IdempotencyContext.bind(context());
		StoredResponse result = null;
		try {
			result = work.get();
		}
		finally {
			IdempotencyContext.bind(outer);
			if (result == null) {
				release();
			}
		}
		complete(result);
		return result;
	}

	/**
	 * Claims the step.
	 * @return its recorded result, or {@code null} if the caller has to run it
	 * @throws IdempotencyPendingException if another run owns the key by now
	 * @throws IdempotencyMismatchException if the step was recorded for another request;
	 * the run can then no longer be completed
	 * @throws IdempotencyStoreException if the store is unreachable or cannot use the key
	 */
	@Nullable StoredResponse claim() {
		Claim outcome = this.claim.claim();
		if (outcome.isPending() && releaseEarlierClaim()) {
			outcome = this.claim.claim();
		}
		if (outcome.isAcquired()) {
			releaseUnlessCurrent();
			return null;
		}
		if (outcome instanceof Claim.Completed completed) {
			return this.envelope.decrypt(this.claim.request().key(), completed.response());
		}
		if (outcome instanceof Claim.Pending pending) {
			throw takenOver(pending.remainingLease());
		}
		this.run.mismatch();
		throw new IdempotencyMismatchException(this.run.key());
	}

	/**
	 * Creates the context in which the step runs: keys are derived from the key of the
	 * step.
	 * @return a new context at each call
	 */
	IdempotencyContext context() {
		return this.claim.request().context();
	}

	/**
	 * Records the result. While the store is unreachable this is retried in the
	 * background, or at least the fact is recorded that the step was done.
	 * @param result the result
	 * @throws IdempotencyPendingException if another run has taken the step over; its
	 * result is recorded instead
	 */
	void complete(StoredResponse result) {
		ClaimRequest request = this.claim.request();
		this.claim.complete(this.envelope.encryptOrDrop(request, result), request.retention());
		if (this.claim.isLost()) {
			throw takenOver(request.lease());
		}
	}

	/**
	 * Frees the step, so that a retry runs it. Never throws.
	 */
	void release() {
		this.claim.release();
	}

	/**
	 * A run that was paused for longer than its lease must not begin a step while its
	 * successor is between two steps.
	 */
	private void releaseUnlessCurrent() {
		boolean current = false;
		try {
			current = this.run.isCurrent();
		}
		finally {
			if (!current) {
				this.claim.release();
			}
		}
		if (!current) {
			throw takenOver(this.claim.request().lease());
		}
	}

	/**
	 * Releases the claim of a run that no longer owns the key. Its token is read before
	 * the run is confirmed: a claim that is older than the confirmed ownership cannot
	 * belong to a successor.
	 */
	private boolean releaseEarlierClaim() {
		IdempotencyKey key = this.claim.request().key();
		try {
			StoredKey found = this.store.find(key);
			return found == null || found.state() == StoredKey.State.COMPLETED
					|| (this.run.confirm() && this.store.release(key, found.token()));
		}
		catch (UnsupportedOperationException ex) {
			// This store cannot look keys up: the earlier claim must expire.
			return false;
		}
	}

	private IdempotencyPendingException takenOver(Duration retryAfter) {
		return new IdempotencyPendingException(this.run.key(), retryAfter);
	}

}
