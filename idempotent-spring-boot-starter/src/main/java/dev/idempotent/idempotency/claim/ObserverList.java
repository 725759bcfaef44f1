package dev.idempotent.idempotency.claim;

import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.Supplier;

import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.IdempotencyObserver;
import dev.idempotent.idempotency.IdempotencyStoreUnavailableException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Logs each decision, and notifies all observers. One that throws affects neither the
 * others nor the work.
 */
record ObserverList(List<IdempotencyObserver> observers, Set<Class<?>> reported) implements IdempotencyObserver {

	private static final Logger logger = LoggerFactory.getLogger(ObserverList.class);

	ObserverList(List<IdempotencyObserver> observers) {
		this(observers, ConcurrentHashMap.newKeySet());
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
		each((observer) -> observer.runStarted(operation, key));
	}

	@Override
	public void decided(Decision decision) {
		if (logger.isDebugEnabled()) {
			logger.debug("{} {}: {} after {} ms ({}, {})", decision.operation().kind(), decision.operation().name(),
					decision.outcome(), decision.took().toMillis(),
					(decision.key() != null) ? "key " + decision.key() : "no key", decision.operation().guarantee());
		}
		each((observer) -> observer.decided(decision));
	}

	@Override
	public void storeCalled(String store, StoreVerb verb, StoreResult result, Duration took) {
		each((observer) -> observer.storeCalled(store, verb, result, took));
	}

	@Override
	public void leasesRenewed(int leases) {
		each((observer) -> observer.leasesRenewed(leases));
	}

	@Override
	public void leaseLost(IdempotencyKey key) {
		each((observer) -> observer.leaseLost(key));
	}

	@Override
	public void settlementRetried(StoreVerb verb, StoreResult result) {
		each((observer) -> observer.settlementRetried(verb, result));
	}

	private void each(Consumer<IdempotencyObserver> call) {
		for (IdempotencyObserver observer : this.observers) {
			try {
				call.accept(observer);
			}
			// Also a library of the wrong version must not affect the work.
			catch (RuntimeException | Error ex) {
				report(observer, ex);
			}
		}
	}

	/**
	 * An observer that always fails must not fill the log.
	 */
	private void report(IdempotencyObserver observer, Throwable failure) {
		if (this.reported.add(observer.getClass())) {
			logger.warn("The observer {} has failed; its observation is missing. Further failures are logged at DEBUG",
					observer.getClass().getName(), failure);
		}
		else {
			logger.debug("The observer {} has failed again", observer.getClass().getName(), failure);
		}
	}

}
