package dev.idempotent.outbox.relay;

import java.util.ArrayList;
import java.util.List;

import dev.idempotent.outbox.OutboxPublisher;
import dev.idempotent.outbox.Outcome;
import dev.idempotent.outbox.SerializedEvent;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Publishes a batch, and isolates an event at which the publisher throws: the batch is
 * halved until the event is alone, so that it costs the others only a few calls.
 */
final class BatchPublisher {

	private static final Logger logger = LoggerFactory.getLogger(BatchPublisher.class);

	private final OutboxPublisher publisher;

	BatchPublisher(OutboxPublisher publisher) {
		this.publisher = publisher;
	}

	String prefix() {
		return this.publisher.prefix();
	}

	/**
	 * Publishes events.
	 * @return the outcome of each, in the same order
	 */
	List<Outcome> publish(List<SerializedEvent> events) {
		try {
			List<Outcome> outcomes = this.publisher.publish(events);
			if (outcomes.size() == events.size()) {
				return outcomes;
			}
			throw new IllegalStateException("The publisher of %s returned %d outcomes for %d events"
				.formatted(this.publisher.prefix(), outcomes.size(), events.size()));
		}
		// An error of one event, such as a stack overflow, must not end the worker.
		catch (Throwable ex) {
			return (events.size() > 1) ? publishHalves(events) : failed(ex);
		}
	}

	private List<Outcome> publishHalves(List<SerializedEvent> events) {
		int middle = events.size() / 2;
		List<Outcome> outcomes = new ArrayList<>(publish(events.subList(0, middle)));
		outcomes.addAll(publish(events.subList(middle, events.size())));
		return outcomes;
	}

	/**
	 * Keeps only the class name: the message could contain a part of the payload.
	 */
	private List<Outcome> failed(Throwable failure) {
		logger.debug("The publisher of {} failed for an event", this.publisher.prefix(), failure);
		return List.of(new Outcome.Retry("The publisher failed with " + failure.getClass().getName(), null));
	}

}
