package dev.idempotent.idempotency.claim;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;

import dev.idempotent.idempotency.Claim;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.IdempotencyObserver;
import dev.idempotent.idempotency.IdempotencyObserver.Decision;
import dev.idempotent.idempotency.IdempotencyObserver.Operation;
import dev.idempotent.idempotency.IdempotencyObserver.Outcome;
import dev.idempotent.idempotency.IdempotencyStoreUnavailableException;
import dev.idempotent.idempotency.RunOrigin;
import dev.idempotent.idempotency.StoredResponse;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.jspecify.annotations.Nullable;

/**
 * The border between one request or call and the engine: opens stored responses, and
 * reports the outcome to the observers once.
 */
final class ObservedClaim {

	private static final Logger logger = LoggerFactory.getLogger(ObservedClaim.class);

	private final IdempotencyObserver observer;

	private final ResponseEnvelope envelope;

	private final Operation operation;

	private final IdempotencyKey key;

	private final long start = System.nanoTime();

	private final AtomicBoolean decided = new AtomicBoolean();

	ObservedClaim(IdempotencyObserver observer, ResponseEnvelope envelope, Operation operation, IdempotencyKey key) {
		this.observer = observer;
		this.envelope = envelope;
		this.operation = operation;
		this.key = key;
	}

	/**
	 * Claims the key. Every outcome but an acquired key is final.
	 * @param claim the claim, whose response is in its stored form
	 * @return the outcome, with the response as the application wrote it
	 */
	Claim claim(Supplier<Claim> claim) {
		try {
			Claim outcome = claim.get();
			return outcome.fold((acquired) -> {
				this.observer.runStarted(this.operation, this.key);
				return outcome;
			}, (pending) -> {
				decide(Outcome.IN_PROGRESS);
				return outcome;
			}, this::replay, (mismatched) -> {
				decide(Outcome.MISMATCHED);
				return outcome;
			});
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
	 * Claims the key once more for the response to work that was rolled back. Every
	 * outcome but an acquired key is final.
	 */
	Claim claimAfterRollback(Supplier<Claim> claim) {
		try {
			Claim outcome = claim.get();
			return outcome.isAcquired() ? outcome : claim(() -> outcome);
		}
		catch (RuntimeException | Error ex) {
			decide(Outcome.RELEASED);
			throw ex;
		}
	}

	/**
	 * Creates the stored form of a response.
	 */
	StoredResponse close(ClaimRequest request, StoredResponse response) {
		return this.envelope.close(request, response);
	}

	/**
	 * Creates the stored form of a response to work that is done, so that a failure to
	 * encrypt it must not free the key.
	 */
	StoredResponse closeOrDrop(ClaimRequest request, StoredResponse response) {
		try {
			return close(request, response);
		}
		// A library of a cipher may be missing. The message could contain a part of the
		// response.
		catch (RuntimeException | Error ex) {
			logger.error(
					"The response of key {} could not be encrypted ({}); only the fact that the work was done is stored",
					this.key, ex.getClass().getName());
			logger.debug("The stack trace of the failure above", ex);
			return StoredResponse.notKept();
		}
	}

	/**
	 * Opens the response of a run that has ended.
	 */
	Claim.Completed replay(Claim.Completed completed) {
		ResponseEnvelope.Content content = this.envelope.open(this.key, completed.response());
		decide(content.response().isKept() ? Outcome.REPLAYED : Outcome.NOT_KEPT, content.origin());
		return new Claim.Completed(content.response(), completed.remainingRetention());
	}

	/**
	 * Reports a run that has ended with this response.
	 */
	void decideRun(StoredResponse response) {
		decide(response.isKept() ? Outcome.RUN : Outcome.RUN_NOT_KEPT);
	}

	/**
	 * Reports the end of a request or call. Only the first one is reported.
	 */
	void decide(Outcome outcome) {
		decide(outcome, null);
	}

	private void decide(Outcome outcome, @Nullable RunOrigin origin) {
		if (this.decided.compareAndSet(false, true)) {
			this.observer.decided(new Decision(this.operation, this.key, outcome,
					Duration.ofNanos(System.nanoTime() - this.start), origin));
		}
	}

}
