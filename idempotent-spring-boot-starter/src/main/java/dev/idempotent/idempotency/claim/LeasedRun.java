package dev.idempotent.idempotency.claim;

import java.util.HashSet;
import java.util.Set;

import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.IdempotencyMismatchException;

/**
 * A run under a lease in this process, as its steps see it.
 */
final class LeasedRun {

	private final ClaimRequest request;

	private final StoreClaim claim;

	private final Set<String> steps = new HashSet<>();

	private volatile long confirmed;

	private volatile boolean mismatched;

	/**
	 * Creates a run.
	 * @param claimed when the call began that claimed its key: the reply may have taken
	 * longer than the lease
	 */
	LeasedRun(ClaimRequest request, StoreClaim claim, long claimed) {
		this.request = request;
		this.claim = claim;
		this.confirmed = claimed;
	}

	IdempotencyKey key() {
		return this.request.key();
	}

	String token() {
		return this.request.token();
	}

	/**
	 * Creates the request of a step: with the token of this run, so that no other run can
	 * record its result.
	 * @throws IllegalStateException if this run has already called a step of that name
	 * @throws IdempotencyMismatchException if a step of the same key belongs to another
	 * request, for which no further step may be recorded
	 */
	ClaimRequest requestOf(String step) {
		if (this.mismatched) {
			throw new IdempotencyMismatchException(key());
		}
		synchronized (this.steps) {
			if (!this.steps.add(step)) {
				throw new IllegalStateException("The step '" + step + "' was already called in this run. Give each "
						+ "step a name of its own, such as the number of the line in a loop, and put retries inside "
						+ "of the step");
			}
		}
		IdempotencyKey key = IdempotencyKey.of(IdempotencyKey.Kind.STEP, "", "", key().digest(), step);
		return new ClaimRequest(key, this.request.fingerprint(), this.request.origin(), token(), this.request.lease(),
				this.request.retention());
	}

	/**
	 * Returns whether this run still owns its key. The store is called only if half a
	 * lease has passed since it last confirmed this.
	 */
	boolean isCurrent() {
		return System.nanoTime() - this.confirmed < this.request.lease().toNanos() / 2 || confirm();
	}

	/**
	 * Has the store confirm that this run still owns its key.
	 * @return {@code false} if another run has it
	 */
	boolean confirm() {
		long start = System.nanoTime();
		boolean current = this.claim.confirm();
		if (current) {
			this.confirmed = start;
		}
		return current;
	}

	/**
	 * Records that a step of the same key belongs to another request.
	 */
	void mismatch() {
		this.mismatched = true;
	}

	boolean isMismatched() {
		return this.mismatched;
	}

}
