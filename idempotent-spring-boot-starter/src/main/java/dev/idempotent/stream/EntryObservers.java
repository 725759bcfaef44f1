package dev.idempotent.stream;

import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

import dev.idempotent.stream.StreamObservation.Delivery;
import dev.idempotent.stream.StreamObservation.Scope;
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
		notifyAll((observer) -> observer.listening(groups));
	}

	/**
	 * Begins to observe a delivery.
	 */
	ObservedEntry start(ConsumerGroup group, Entry entry) {
		return new ObservedEntry(this::call, this::processed, group, entry.deliveries(), open(group, entry));
	}

	private void processed(ProcessedEntry entry) {
		notifyAll((observer) -> observer.processed(entry));
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

	private void notifyAll(Consumer<StreamObserver> call) {
		this.observers.forEach((observer) -> call(() -> call.accept(observer)));
	}

	private void failed(Throwable failure) {
		if (this.warned.compareAndSet(false, true)) {
			logger.warn("An observer of the @RedisStreamListener methods has failed with {}; entries are processed "
					+ "nevertheless. Further failures are logged at level DEBUG", failure.getClass().getName());
		}
		logger.debug("An observer of the @RedisStreamListener methods has failed", failure);
	}

}
