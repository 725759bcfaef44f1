package dev.idempotent.outbox.relay;

import java.util.ArrayList;
import java.util.List;

import dev.idempotent.outbox.OutboxPublisher;
import dev.idempotent.outbox.Outcome;
import dev.idempotent.outbox.SerializedEvent;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Publishes a batch so that an event at which the publisher fails costs the others no
 * more than a few calls: the batch is halved until it is alone.
 */
final class BatchPublication {

	private static final Logger logger = LoggerFactory.getLogger(BatchPublication.class);

	private final OutboxPublisher publisher;

	BatchPublication(OutboxPublisher publisher) {
		this.publisher = publisher;
	}

	/**
	 * Publishes events.
	 * @return what became of each, in the same order
	 */
	List<Outcome> publish(List<SerializedEvent> events) {
		try {
			List<Outcome> outcomes = this.publisher.publish(events);
			if (outcomes.size() == events.size()) {
				return outcomes;
			}
			throw new IllegalStateException("The publisher of %s told %d outcomes of %d events"
				.formatted(this.publisher.prefix(), outcomes.size(), events.size()));
		}
		// An error of one event, such as a stack that overflows or too little memory for
		// all at once, must not end the worker.
		catch (Throwable ex) {
			return (events.size() > 1) ? inHalves(events) : failed(ex);
		}
	}

	private List<Outcome> inHalves(List<SerializedEvent> events) {
		int middle = events.size() / 2;
		List<Outcome> outcomes = new ArrayList<>(publish(events.subList(0, middle)));
		outcomes.addAll(publish(events.subList(middle, events.size())));
		return outcomes;
	}

	/**
	 * The message could hold a part of the payload.
	 */
	private List<Outcome> failed(Throwable failure) {
		logger.debug("The publisher of {} failed at an event", this.publisher.prefix(), failure);
		return List.of(new Outcome.Retry("The publisher failed with " + failure.getClass().getName(), null));
	}

}
