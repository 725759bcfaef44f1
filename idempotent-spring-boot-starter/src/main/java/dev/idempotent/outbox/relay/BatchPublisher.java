package dev.idempotent.outbox.relay;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.BooleanSupplier;

import dev.idempotent.outbox.OutboxPublisher;
import dev.idempotent.outbox.Outcome;
import dev.idempotent.outbox.Outcome.Scope;
import dev.idempotent.outbox.SerializedEvent;
import dev.idempotent.outbox.jdbc.ClaimedEvent;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Publishes a batch so that a single event cannot block the others. If the publisher
 * throws, the batch is halved until the event at fault is alone.
 * <p>
 * The first event of a batch that gets no response may itself be the reason, for example
 * because it is too large to be sent within a timeout. Such a suspect is to be published
 * alone, after the others.
 */
final class BatchPublisher {

	private static final Outcome MISSING = new Outcome.Retry("The publisher returned no outcome for the event", null);

	private static final int MAX_SUSPECTS = 1000;

	private static final Logger logger = LoggerFactory.getLogger(BatchPublisher.class);

	private final OutboxPublisher publisher;

	private final CircuitBreakers circuits;

	private final Map<List<Long>, Suspect> suspects = new LinkedHashMap<>() {

		@Override
		protected boolean removeEldestEntry(Map.Entry<List<Long>, Suspect> eldest) {
			return size() > MAX_SUSPECTS;
		}

	};

	BatchPublisher(OutboxPublisher publisher, CircuitBreakers circuits) {
		this.publisher = publisher;
		this.circuits = circuits;
	}

	/**
	 * Publishes events and adds the outcome of each to the settlement.
	 * @param sending whether there is time to send events
	 */
	void send(List<ClaimedEvent> claims, BooleanSupplier sending, BatchSettlement settlement) {
		List<Outcome> outcomes = publish(claims, sending);
		for (int i = 0; i < claims.size(); i++) {
			settlement.add(claims.get(i), outcomes.get(i));
		}
	}

	/**
	 * Whether the event with this row is to be published alone.
	 */
	boolean isSuspect(List<Long> row) {
		synchronized (this.suspects) {
			return this.suspects.containsKey(row);
		}
	}

	/**
	 * Publishes events and records which destinations are available.
	 * @param sending whether there is time to send events
	 * @return the outcome of each, in the same order
	 */
	List<Outcome> publish(List<ClaimedEvent> claims, BooleanSupplier sending) {
		if (claims.size() == 1 && isSuspect(claims.get(0).place())) {
			return List.of(publishSuspect(claims.get(0), sending));
		}
		List<Outcome> outcomes = publishOrHalve(claims.stream().map(ClaimedEvent::event).toList(), sending);
		record(claims, outcomes);
		return outcomes;
	}

	/**
	 * An event that gets no response when it is published alone, while others of its
	 * topic do, is at fault: the attempt counts, unless the publisher excludes this, and
	 * the destination stays available. Otherwise only its destination may be unavailable.
	 */
	private Outcome publishSuspect(ClaimedEvent claim, BooleanSupplier sending) {
		boolean evidence = hasEvidence(claim);
		List<ClaimedEvent> single = List.of(claim);
		Outcome outcome = publishOrHalve(List.of(claim.event()), sending).get(0);
		if (outcome instanceof Outcome.Unavailable unavailable && outcome != BatchSettlement.NOT_SENT) {
			if (evidence) {
				recordSuspects(single, List.of(outcome));
				return this.publisher.canEventPreventResponse()
						? new Outcome.Retry(unavailable.reason() + ", but did for other events of the topic", null)
						: outcome;
			}
			if (this.circuits.isClosed()) {
				outcome = new Outcome.Unavailable(unavailable.reason(), Scope.DESTINATION);
			}
		}
		record(single, List.of(outcome));
		return outcome;
	}

	/**
	 * Whether other events of the same topic got a response since this one got none.
	 */
	private boolean hasEvidence(ClaimedEvent claim) {
		synchronized (this.suspects) {
			Suspect suspect = this.suspects.get(claim.place());
			return suspect != null && suspect.evidence();
		}
	}

	private void record(List<ClaimedEvent> claims, List<Outcome> outcomes) {
		List<ClaimedEvent> sent = new ArrayList<>();
		List<Outcome> results = new ArrayList<>();
		for (int i = 0; i < claims.size(); i++) {
			if (outcomes.get(i) != BatchSettlement.NOT_SENT) {
				sent.add(claims.get(i));
				results.add(outcomes.get(i));
			}
		}
		if (!sent.isEmpty()) {
			recordSuspects(sent, results);
			this.circuits.record(sent.stream().map(ClaimedEvent::event).toList(), results);
		}
	}

	/**
	 * The first event of each topic that got no response becomes a suspect. Each response
	 * is evidence against the suspects of its topic, until another event of the topic
	 * gets no response: then the destination may be at fault.
	 */
	private void recordSuspects(List<ClaimedEvent> claims, List<Outcome> outcomes) {
		Set<String> answered = new HashSet<>();
		Set<String> silent = new HashSet<>();
		Map<String, List<Long>> first = new LinkedHashMap<>();
		synchronized (this.suspects) {
			for (int i = 0; i < claims.size(); i++) {
				List<Long> row = claims.get(i).place();
				String topic = claims.get(i).event().topic();
				if (!(outcomes.get(i) instanceof Outcome.Unavailable)) {
					answered.add(topic);
					this.suspects.remove(row);
				}
				else {
					first.putIfAbsent(topic, row);
					if (!isSuspect(row)) {
						silent.add(topic);
					}
				}
			}
			this.suspects
				.replaceAll((row, suspect) -> silent.contains(suspect.topic()) ? new Suspect(suspect.topic(), false)
						: answered.contains(suspect.topic()) ? new Suspect(suspect.topic(), true) : suspect);
			first.forEach((topic, row) -> this.suspects.put(row, new Suspect(topic, false)));
		}
	}

	private List<Outcome> publishOrHalve(List<SerializedEvent> events, BooleanSupplier sending) {
		if (events.isEmpty() || !sending.getAsBoolean()) {
			return Collections.nCopies(events.size(), BatchSettlement.NOT_SENT);
		}
		try {
			return ordered(events, this.publisher.publish(events));
		}
		// An error of one event, such as a stack overflow, must not end the worker.
		catch (Throwable ex) {
			return (events.size() > 1) ? publishHalves(events, sending) : failed(ex);
		}
		finally {
			// The interrupt of a publisher that interrupts its own thread.
			boolean unused = Thread.interrupted();
		}
	}

	/**
	 * The outcomes. If the publisher stops at an event that was not delivered, the
	 * outcomes of the later events of its key mean nothing.
	 */
	private List<Outcome> ordered(List<SerializedEvent> events, List<Outcome> outcomes) {
		if (outcomes.size() != events.size()) {
			throw new IllegalStateException("The publisher of %s returned %d outcomes for %d events"
				.formatted(this.publisher.prefix(), outcomes.size(), events.size()));
		}
		Set<List<String>> stopped = new HashSet<>();
		List<Outcome> ordered = new ArrayList<>(outcomes.size());
		for (int i = 0; i < outcomes.size(); i++) {
			Outcome outcome = Objects.requireNonNullElse(outcomes.get(i), MISSING);
			if (!(outcome instanceof Outcome.Delivered) && !stopsAt(events.get(i), stopped)) {
				outcome = BatchSettlement.NOT_SENT;
			}
			ordered.add(outcome);
		}
		return ordered;
	}

	/**
	 * Adds the key of an event that was not delivered.
	 * @return whether it is the first one of its key, or can have no others behind it
	 */
	private boolean stopsAt(SerializedEvent event, Set<List<String>> stopped) {
		return event.key() == null || !this.publisher.keepsOrder() || stopped.add(List.of(event.topic(), event.key()));
	}

	/**
	 * Sends nothing of the second half behind an event of the same key that has failed.
	 */
	private List<Outcome> publishHalves(List<SerializedEvent> events, BooleanSupplier sending) {
		int middle = events.size() / 2;
		List<Outcome> outcomes = new ArrayList<>(publishOrHalve(events.subList(0, middle), sending));
		Set<List<String>> stopped = new HashSet<>();
		for (int i = 0; i < middle; i++) {
			if (!(outcomes.get(i) instanceof Outcome.Delivered)) {
				boolean unused = stopsAt(events.get(i), stopped);
			}
		}
		List<SerializedEvent> second = events.subList(middle, events.size());
		List<SerializedEvent> rest = second.stream()
			.filter((event) -> event.key() == null || !stopped.contains(List.of(event.topic(), event.key())))
			.toList();
		List<Outcome> published = publishOrHalve(rest, sending);
		int next = 0;
		for (SerializedEvent event : second) {
			boolean sent = next < rest.size() && rest.get(next) == event;
			outcomes.add(sent ? published.get(next++) : BatchSettlement.NOT_SENT);
		}
		return outcomes;
	}

	/**
	 * Keeps only the class name: the message could contain a part of the payload.
	 */
	private List<Outcome> failed(Throwable failure) {
		logger.debug("The publisher of {} failed for an event", this.publisher.prefix(), failure);
		return List.of(new Outcome.Retry("The publisher failed with " + failure.getClass().getName(), null));
	}

	private record Suspect(String topic, boolean evidence) {
	}

}
