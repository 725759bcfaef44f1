package dev.idempotent.outbox.relay;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;

import dev.idempotent.outbox.OutboxPublisher;
import dev.idempotent.outbox.Outcome;
import dev.idempotent.outbox.Outcome.Scope;
import dev.idempotent.outbox.SerializedEvent;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Publishes a batch so that a single event cannot block the others. If the publisher
 * throws, the batch is halved until the event at fault is alone. Events suspected of
 * making the destination seem unavailable are published alone, after the others.
 */
final class BatchPublisher {

	private static final Logger logger = LoggerFactory.getLogger(BatchPublisher.class);

	private static final Outcome MISSING = new Outcome.Retry("The publisher returned no outcome for the event", null);

	private static final Outcome SKIPPED = new Outcome.Unavailable("The destination was unavailable a moment ago");

	private final OutboxPublisher publisher;

	private final PublisherCircuit circuit;

	private final SuspectEvents suspects;

	BatchPublisher(OutboxPublisher publisher, PublisherCircuit circuit, SuspectEvents suspects) {
		this.publisher = publisher;
		this.circuit = circuit;
		this.suspects = suspects;
	}

	String prefix() {
		return this.publisher.prefix();
	}

	/**
	 * Publishes events and records which destinations are available.
	 * @return the outcome of each, in the same order
	 */
	List<Outcome> publish(List<SerializedEvent> events) {
		List<SerializedEvent> others = this.suspects.othersOf(events);
		List<Outcome> published = others.isEmpty() ? List.of() : publishTogether(others);
		return (others.size() == events.size()) ? published : publishSuspects(events, others, published);
	}

	private List<Outcome> publishTogether(List<SerializedEvent> events) {
		List<Outcome> outcomes = publishOrHalve(events);
		record(events, outcomes);
		return outcomes;
	}

	/**
	 * Adds the outcomes of the suspects. Stops after the first one that gets no response,
	 * because the lease of the batch is limited, and publishes none if the others got no
	 * response either.
	 */
	private List<Outcome> publishSuspects(List<SerializedEvent> events, List<SerializedEvent> others,
			List<Outcome> published) {
		Map<UUID, Outcome> outcomes = new HashMap<>();
		for (int i = 0; i < others.size(); i++) {
			outcomes.put(others.get(i).id(), published.get(i));
		}
		Set<String> topics = others.stream().map(SerializedEvent::topic).collect(Collectors.toSet());
		boolean answered = true;
		for (SerializedEvent event : events) {
			if (!outcomes.containsKey(event.id())) {
				boolean unavailable = topics.contains(event.topic()) && !this.circuit.isClosed(event.topic());
				Outcome outcome = (answered && !unavailable) ? publishAlone(event) : SKIPPED;
				answered &= outcome instanceof Outcome.Delivered;
				outcomes.put(event.id(), outcome);
			}
		}
		return events.stream().map((event) -> Objects.requireNonNull(outcomes.get(event.id()))).toList();
	}

	/**
	 * An event that gets no response when it is published alone, while others of its
	 * topic do, is at fault: the attempt counts, unless the publisher excludes this, and
	 * the destination stays available. Otherwise only its destination may be unavailable.
	 */
	private Outcome publishAlone(SerializedEvent event) {
		boolean evidence = this.suspects.hasEvidence(event);
		List<SerializedEvent> single = List.of(event);
		List<Outcome> outcomes = publishOrHalve(single);
		if (outcomes.get(0) instanceof Outcome.Unavailable unavailable) {
			if (evidence) {
				this.suspects.record(single, outcomes);
				return this.publisher.canEventPreventResponse()
						? new Outcome.Retry(unavailable.reason() + ", but did for other events of the topic", null)
						: unavailable;
			}
			if (this.circuit.isClosed()) {
				outcomes = List.of(new Outcome.Unavailable(unavailable.reason(), Scope.DESTINATION));
			}
		}
		record(single, outcomes);
		return outcomes.get(0);
	}

	private void record(List<SerializedEvent> events, List<Outcome> outcomes) {
		this.suspects.record(events, outcomes);
		this.circuit.record(events, outcomes);
	}

	private List<Outcome> publishOrHalve(List<SerializedEvent> events) {
		try {
			List<Outcome> outcomes = this.publisher.publish(events);
			if (outcomes.size() == events.size()) {
				return outcomes.stream().map((outcome) -> Objects.requireNonNullElse(outcome, MISSING)).toList();
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
		List<Outcome> outcomes = new ArrayList<>(publishOrHalve(events.subList(0, middle)));
		outcomes.addAll(publishOrHalve(events.subList(middle, events.size())));
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
