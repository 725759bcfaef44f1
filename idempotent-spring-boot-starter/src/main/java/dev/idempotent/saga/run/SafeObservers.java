package dev.idempotent.saga.run;

import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;

import dev.idempotent.saga.SagaObserver;
import dev.idempotent.saga.SagaStatus;
import dev.idempotent.saga.StepState;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Calls all observers. One that fails affects neither the others nor the saga.
 */
final class SafeObservers implements SagaObserver {

	private static final Logger logger = LoggerFactory.getLogger(SafeObservers.class);

	private final List<SagaObserver> observers;

	SafeObservers(List<SagaObserver> observers) {
		this.observers = List.copyOf(observers);
	}

	@Override
	public void ended(String saga, SagaStatus status, Duration took) {
		each((observer) -> observer.ended(saga, status, took));
	}

	@Override
	public void called(String saga, String step, @Nullable StepState state, Duration took) {
		each((observer) -> observer.called(saga, step, state, took));
	}

	@Override
	public void takenOver(String saga) {
		each((observer) -> observer.takenOver(saga));
	}

	@Override
	public void fenced(String saga) {
		each((observer) -> observer.fenced(saga));
	}

	private void each(Consumer<SagaObserver> call) {
		for (SagaObserver observer : this.observers) {
			try {
				call.accept(observer);
			}
			catch (RuntimeException | Error ex) {
				logger.warn("The saga observer {} failed: {}", observer.getClass().getName(), ex.getClass().getName());
				logger.debug("The stack trace of the failure above", ex);
			}
		}
	}

}
