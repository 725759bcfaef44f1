package dev.idempotent.stream;

import java.time.Duration;
import java.util.List;

import dev.idempotent.stream.StreamObservation.Delivery;
import dev.idempotent.stream.StreamObservation.Scope;
import dev.idempotent.stream.StreamObserver.Outcome;
import dev.idempotent.stream.StreamObserver.ProcessedEntry;
import dev.idempotent.work.Observers;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * All observers of a container. Their failures never affect an entry.
 */
final class EntryObservers {

	private static final Logger logger = LoggerFactory.getLogger(EntryObservers.class);

	private final Observers<StreamObserver> observers;

	private final @Nullable StreamObservation observation;

	EntryObservers(List<StreamObserver> observers, @Nullable StreamObservation observation) {
		this.observers = new Observers<>(observers, logger, "An observer of the @RedisStreamListener methods",
				"entries are processed nevertheless");
		this.observation = observation;
	}

	void listening(List<ConsumerGroup> groups) {
		this.observers.each((observer) -> observer.listening(groups));
	}

	/**
	 * Begins to observe a delivery.
	 */
	ObservedEntry start(ConsumerGroup group, Entry entry) {
		ObservedEntry observed = new ObservedEntry(group, entry.deliveries());
		StreamObservation opening = this.observation;
		if (opening != null) {
			this.observers.run(() -> observed.scope = opening
				.open(new Delivery(group, entry.id(), entry.deliveries(), entry.headers())));
		}
		return observed;
	}

	/**
	 * One observed delivery. Its outcome is {@link Outcome#REDELIVERED} unless another
	 * one is set.
	 */
	final class ObservedEntry {

		private final ConsumerGroup group;

		private final long deliveries;

		private final long started = System.nanoTime();

		private @Nullable Scope scope;

		private Outcome outcome = Outcome.REDELIVERED;

		private ObservedEntry(ConsumerGroup group, long deliveries) {
			this.group = group;
			this.deliveries = deliveries;
		}

		void failed(Throwable failure) {
			Scope open = this.scope;
			if (open != null) {
				EntryObservers.this.observers.run(() -> open.failed(failure));
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
				EntryObservers.this.observers.run(() -> open.close(this.outcome));
			}
			ProcessedEntry processed = new ProcessedEntry(this.group, this.outcome, this.deliveries, took);
			EntryObservers.this.observers.each((observer) -> observer.processed(processed));
		}

	}

}
