package dev.idempotent.idempotency.engine;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;

import dev.idempotent.idempotency.Claim;
import dev.idempotent.idempotency.IdempotencyContext;
import dev.idempotent.idempotency.IdempotencyObserver;
import dev.idempotent.idempotency.IdempotencyObserver.Decision;
import dev.idempotent.idempotency.IdempotencyObserver.Operation;
import dev.idempotent.idempotency.IdempotencyObserver.Outcome;
import dev.idempotent.idempotency.IdempotencyStoreException;
import dev.idempotent.idempotency.IdempotencyStoreUnavailableException;
import dev.idempotent.idempotency.OnStoreFailure;
import dev.idempotent.idempotency.RunOrigin;
import dev.idempotent.idempotency.StoredResponse;
import org.jspecify.annotations.Nullable;

/**
 * Claims one key for one run of its work. An acquired claim is settled once, by
 * {@link #complete} or {@link #release}; its lease is renewed until then. The outcome of
 * the request or call is reported to the observers once.
 */
public abstract class Claimant {

	private final Operation operation;

	private final IdempotencyObserver observer;

	private final ResponseEnvelope envelope;

	private final long start = System.nanoTime();

	private final AtomicBoolean decided = new AtomicBoolean();

	Claimant(Operation operation, IdempotencyObserver observer, ResponseEnvelope envelope) {
		this.operation = operation;
		this.observer = observer;
		this.envelope = envelope;
	}

	/**
	 * Claims the key.
	 * @return the outcome; {@link Claim.Acquired} under {@link OnStoreFailure#PROCEED}
	 * while the store is unreachable
	 * @throws IdempotencyStoreUnavailableException if the store or database that decides
	 * is unreachable; a claim that it may have granted is released once it is reachable
	 * again
	 * @throws IdempotencyStoreException if the key cannot be used
	 */
	public final Claim claim() {
		return observed(this::claimOnce);
	}

	/**
	 * Claims the key, and waits while another claimant runs the same work.
	 * @param timeout how long to wait at most
	 * @return the outcome; {@link Claim.Pending} if the work still runs after that time,
	 * or if too many callers wait already
	 * @throws IdempotencyStoreException as {@link #claim()} does
	 */
	public final Claim claimOrWait(Duration timeout) {
		return observed(() -> claimRepeatedly(timeout));
	}

	/**
	 * Creates the context in which the work runs. To be called once the key is claimed.
	 * @return a new context at each call
	 */
	public final IdempotencyContext context() {
		return request().context();
	}

	/**
	 * Stores the response for retries. Never throws: while the store is unreachable the
	 * lease is renewed and the response stored in the background, or at least the fact
	 * that the work was done.
	 * @param response the response
	 */
	public abstract void complete(StoredResponse response);

	/**
	 * Frees the key, so that a retry runs. Never throws: while the store is unreachable
	 * the key is freed in the background, or by the end of its lease.
	 */
	public abstract void release();

	/**
	 * Stops renewing the lease without settling the claim, for work whose end may not be
	 * detected.
	 */
	public abstract void stopRenewal();

	/**
	 * Settles the claim of work that may have been committed. Under a lease alone, the
	 * key stays claimed until its lease expires; otherwise the next claim finds the
	 * outcome in the database.
	 */
	public abstract void settleUnknown();

	/**
	 * The parameters of the current attempt to claim the key.
	 */
	abstract ClaimRequest request();

	/**
	 * Claims the key.
	 * @return the outcome, with the response in its stored form
	 */
	abstract Claim claimOnce();

	/**
	 * Claims the key until it is no longer pending.
	 * @return the last outcome, with the response in its stored form
	 */
	abstract Claim claimRepeatedly(Duration timeout);

	/**
	 * Reports every outcome but an acquired key, which is final.
	 * @return the outcome, with the response as the application wrote it
	 */
	final Claim observed(Supplier<Claim> claim) {
		try {
			Claim outcome = claim.get();
			if (outcome.isAcquired()) {
				this.observer.runStarted(this.operation, request().key());
			}
			else if (outcome instanceof Claim.Completed completed) {
				return replay(completed);
			}
			else {
				decide(outcome.isPending() ? Outcome.IN_PROGRESS : Outcome.MISMATCHED);
			}
			return outcome;
		}
		catch (IdempotencyStoreUnavailableException ex) {
			decide(Outcome.UNAVAILABLE);
			throw ex;
		}
		catch (RuntimeException | Error ex) {
			decide(Outcome.FAILED);
			throw ex;
		}
	}

	/**
	 * Decrypts and reports the response of a run that has ended.
	 */
	final Claim.Completed replay(Claim.Completed completed) {
		StoredResponse response = this.envelope.decrypt(request().key(), completed.response());
		decide(response.isKept() ? Outcome.REPLAYED : Outcome.NOT_KEPT,
				ResponseEnvelope.origin(request().key(), completed.response()));
		return new Claim.Completed(response, completed.remainingRetention());
	}

	final ResponseEnvelope envelope() {
		return this.envelope;
	}

	/**
	 * Reports a run that has ended with this response.
	 */
	final void decideRun(StoredResponse response) {
		decide(response.isKept() ? Outcome.RUN : Outcome.RUN_NOT_KEPT);
	}

	/**
	 * Reports the end of the request or call. Only the first one is reported.
	 */
	final void decide(Outcome outcome) {
		decide(outcome, null);
	}

	private void decide(Outcome outcome, @Nullable RunOrigin origin) {
		if (this.decided.compareAndSet(false, true)) {
			this.observer.decided(new Decision(this.operation, request().key(), outcome,
					Duration.ofNanos(System.nanoTime() - this.start), origin));
		}
	}

}
