package dev.idempotent.idempotency.engine;

import java.time.Duration;
import java.util.List;
import java.util.function.Supplier;

import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.IdempotencyObserver;
import dev.idempotent.idempotency.IdempotencyStoreUnavailableException;
import dev.idempotent.concurrent.Observers;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Logs each decision, and notifies all observers. One that throws affects neither the
 * others nor the work.
 */
final class ObserverList implements IdempotencyObserver {

	private static final Logger logger = LoggerFactory.getLogger(ObserverList.class);

	private final Observers<IdempotencyObserver> observers;

	ObserverList(List<IdempotencyObserver> observers) {
		this.observers = new Observers<>(observers, logger, "An IdempotencyObserver", "its observation is missing");
	}

	/**
	 * Calls a store, and notifies all observers of the call.
	 */
	<T extends @Nullable Object> T observe(String store, StoreVerb verb, Supplier<T> call) {
		long start = System.nanoTime();
		StoreResult result = StoreResult.FAILED;
		try {
			T reply = call.get();
			result = StoreResult.ANSWERED;
			return reply;
		}
		catch (IdempotencyStoreUnavailableException ex) {
			result = StoreResult.UNAVAILABLE;
			throw ex;
		}
		finally {
			storeCalled(store, verb, result, Duration.ofNanos(System.nanoTime() - start));
		}
	}

	@Override
	public void runStarted(Operation operation, IdempotencyKey key) {
		this.observers.each((observer) -> observer.runStarted(operation, key));
	}

	@Override
	public void decided(Decision decision) {
		if (logger.isDebugEnabled()) {
			logger.debug("{} {}: {} after {} ms ({}, {})", decision.operation().kind(), decision.operation().name(),
					decision.outcome(), decision.took().toMillis(),
					(decision.key() != null) ? "key " + decision.key() : "no key", decision.operation().guarantee());
		}
		this.observers.each((observer) -> observer.decided(decision));
	}

	@Override
	public void storeCalled(String store, StoreVerb verb, StoreResult result, Duration took) {
		this.observers.each((observer) -> observer.storeCalled(store, verb, result, took));
	}

	@Override
	public void leasesRenewed(int leases) {
		this.observers.each((observer) -> observer.leasesRenewed(leases));
	}

	@Override
	public void leaseLost(IdempotencyKey key) {
		this.observers.each((observer) -> observer.leaseLost(key));
	}

	@Override
	public void settlementRetried(StoreVerb verb, StoreResult result) {
		this.observers.each((observer) -> observer.settlementRetried(verb, result));
	}

}
