package dev.idempotent.stream;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

import dev.idempotent.stream.StreamObservation.Delivery;
import dev.idempotent.stream.StreamObservation.Scope;
import dev.idempotent.stream.StreamObserver.Outcome;
import dev.idempotent.stream.StreamObserver.ProcessedEntry;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * All observers of a container. Their failures never affect an entry.
 */
final class EntryObservers {

	private static final Logger logger = LoggerFactory.getLogger(EntryObservers.class);

	private final List<StreamObserver> observers;

	private final @Nullable StreamObservation observation;

	private final AtomicBoolean warned = new AtomicBoolean();

	EntryObservers(List<StreamObserver> observers, @Nullable StreamObservation observation) {
		this.observers = observers;
		this.observation = observation;
	}

	void listening(List<ConsumerGroup> groups) {
		notifyObservers((observer) -> observer.listening(groups));
	}

	/**
	 * Begins to observe a delivery.
	 */
	ObservedEntry start(ConsumerGroup group, Entry entry) {
		return new ObservedEntry(group, entry.deliveries(), open(group, entry));
	}

	/**
	 * Calls an observer, and reports what it throws.
	 */
	private void call(Runnable observer) {
		try {
			observer.run();
		}
		catch (Throwable ex) {
			failed(ex);
		}
	}

	private @Nullable Scope open(ConsumerGroup group, Entry entry) {
		try {
			return (this.observation == null) ? null
					: this.observation.open(new Delivery(group, entry.id(), entry.deliveries(), entry.headers()));
		}
		catch (Throwable ex) {
			failed(ex);
			return null;
		}
	}

	private void notifyObservers(Consumer<StreamObserver> call) {
		this.observers.forEach((observer) -> call(() -> call.accept(observer)));
	}

	private void failed(Throwable failure) {
		if (this.warned.compareAndSet(false, true)) {
			logger.warn("An observer of the @RedisStreamListener methods has failed with {}; entries are processed "
					+ "nevertheless. Further failures are logged at level DEBUG", failure.getClass().getName());
		}
		logger.debug("An observer of the @RedisStreamListener methods has failed", failure);
	}

	/**
	 * One observed delivery. Its outcome is {@link Outcome#REDELIVERED} unless another
	 * one is set.
	 */
	final class ObservedEntry {

		private final ConsumerGroup group;

		private final long deliveries;

		private final @Nullable Scope scope;

		private final long started = System.nanoTime();

		private Outcome outcome = Outcome.REDELIVERED;

		private ObservedEntry(ConsumerGroup group, long deliveries, @Nullable Scope scope) {
			this.group = group;
			this.deliveries = deliveries;
			this.scope = scope;
		}

		void failed(Throwable failure) {
			Scope open = this.scope;
			if (open != null) {
				call(() -> open.failed(failure));
			}
		}

		void outcome(Outcome outcome) {
			this.outcome = outcome;
		}

		/**
		 * Closes the scope and notifies the observers.
		 */
		void end() {
			Duration took = Duration.ofNanos(System.nanoTime() - this.started);
			Scope open = this.scope;
			if (open != null) {
				call(() -> open.close(this.outcome));
			}
			ProcessedEntry processed = new ProcessedEntry(this.group, this.outcome, this.deliveries, took);
			notifyObservers((observer) -> observer.processed(processed));
		}

	}

}
