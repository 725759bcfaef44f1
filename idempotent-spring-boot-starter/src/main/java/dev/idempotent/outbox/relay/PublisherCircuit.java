package dev.idempotent.outbox.relay;

import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

import dev.idempotent.outbox.Outcome;
import dev.idempotent.outbox.Outcome.Scope;
import dev.idempotent.outbox.SerializedEvent;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps events from a publisher, or from those of its destinations, that are unavailable,
 * but for a few now and then.
 */
final class PublisherCircuit {

	/**
	 * Each one is a parameter of every claim. Where more are away, the publisher is taken
	 * to be.
	 */
	static final int MOST_DESTINATIONS = 50;

	private static final Logger logger = LoggerFactory.getLogger(PublisherCircuit.class);

	private final String publisher;

	private final Runnable onRecovery;

	private final ProbeBackoff whole = new ProbeBackoff();

	private final Map<String, Destination> destinations = new HashMap<>();

	/**
	 * Creates a circuit that is closed.
	 * @param publisher the prefix
	 * @param onRecovery called when events can be sent again that were left behind
	 */
	PublisherCircuit(String publisher, Runnable onRecovery) {
		this.publisher = publisher;
		this.onRecovery = onRecovery;
	}

	/**
	 * Whether the publisher was available when it was last asked, if not each of its
	 * destinations.
	 */
	synchronized boolean isClosed() {
		return !this.whole.isOpen();
	}

	/**
	 * Whether events to this topic may be sent.
	 */
	synchronized boolean isClosed(String topic) {
		return !this.whole.isOpen() && !this.destinations.containsKey(topic);
	}

	/**
	 * The topics that were unavailable when they were last asked.
	 */
	synchronized Set<String> unavailable() {
		return Set.copyOf(this.destinations.keySet());
	}

	/**
	 * Learns from a batch. One that was answered in part says that the publisher is
	 * available.
	 */
	synchronized void record(List<SerializedEvent> events, List<Outcome> outcomes) {
		Set<String> answered = new HashSet<>();
		for (int i = 0; i < events.size(); i++) {
			if (!(outcomes.get(i) instanceof Outcome.Unavailable)) {
				answered.add(events.get(i).topic());
			}
		}
		Map<String, Silence> silent = new LinkedHashMap<>();
		for (int i = 0; i < events.size(); i++) {
			String topic = events.get(i).topic();
			if (outcomes.get(i) instanceof Outcome.Unavailable unavailable && !answered.contains(topic)) {
				silent.putIfAbsent(topic, new Silence(unavailable, events.get(i).sequence()));
			}
		}
		if (answered.isEmpty()) {
			openWhole(silent);
		}
		else {
			close(answered);
		}
		silent.forEach(this::open);
	}

	/**
	 * What is to be tried now.
	 * @return {@code null} if there is nothing to try; without a topic if the publisher
	 * itself is unavailable
	 */
	synchronized @Nullable Probe nextProbe() {
		if (this.whole.isOpen()) {
			return this.whole.isOver() ? new Probe(null, 0) : null;
		}
		return longest().filter((entry) -> entry.getValue().pause.isOver()).map(PublisherCircuit::probe).orElse(null);
	}

	/**
	 * The topic that has not been tried for the longest time, of those that are
	 * unavailable.
	 */
	synchronized @Nullable Probe longestUntried() {
		return longest().map(PublisherCircuit::probe).orElse(null);
	}

	/**
	 * Waits for an event to try with, and closes what there is none for after a while:
	 * the next one finds out.
	 */
	synchronized void rest(Probe probe) {
		Destination destination = (probe.topic() != null) ? this.destinations.get(probe.topic()) : null;
		ProbeBackoff pause = (destination != null) ? destination.pause : this.whole;
		if (!pause.rest()) {
			pause.succeeded();
			this.destinations.values().remove(destination);
			this.onRecovery.run();
		}
	}

	/**
	 * Learns that there is an event to try with.
	 */
	synchronized void expect(String topic) {
		Destination destination = this.destinations.get(topic);
		if (destination != null) {
			destination.pause.endRest();
		}
		this.whole.endRest();
	}

	private Optional<Map.Entry<String, Destination>> longest() {
		long now = System.nanoTime();
		return this.destinations.entrySet()
			.stream()
			.filter((entry) -> entry.getValue().pause.isPromising())
			.min(Comparator.comparingLong((entry) -> entry.getValue().pause.end() - now));
	}

	private static Probe probe(Map.Entry<String, Destination> entry) {
		return new Probe(entry.getKey(), entry.getValue().firstRow);
	}

	private void close(Set<String> answered) {
		boolean recovered = this.whole.isOpen();
		if (recovered) {
			logger.info("The publisher of {} is available again", this.publisher);
			this.whole.succeeded();
			this.destinations.values().forEach((destination) -> destination.pause.endNow());
		}
		for (String topic : answered) {
			Destination back = this.destinations.remove(topic);
			if (back != null && back.told) {
				logger.info("The destination {} is available again", topic);
			}
			recovered |= back != null;
		}
		if (recovered) {
			this.onRecovery.run();
		}
	}

	private void openWhole(Map<String, Silence> silent) {
		boolean tooMany = !this.destinations.keySet().containsAll(silent.keySet())
				&& this.destinations.size() >= MOST_DESTINATIONS;
		silent.values()
			.stream()
			.map(Silence::outcome)
			.filter((outcome) -> tooMany || outcome.scope() == Scope.PUBLISHER)
			.findFirst()
			.ifPresent((outcome) -> {
				if (!this.whole.isOpen()) {
					logger.warn("The publisher of {} is unavailable; events are kept until it is back: {}",
							this.publisher, outcome.reason());
				}
				this.whole.failed();
			});
	}

	private void open(String topic, Silence silence) {
		Destination destination = this.destinations.get(topic);
		if (destination == null) {
			if (this.destinations.size() >= MOST_DESTINATIONS) {
				return;
			}
			destination = new Destination(silence.row());
			this.destinations.put(topic, destination);
		}
		destination.firstRow = Math.min(destination.firstRow, silence.row());
		destination.pause.failed();
		if (!this.whole.isOpen() && !destination.told) {
			destination.told = true;
			logger.warn("The destination {} is unavailable; its events are kept until it is back: {}", topic,
					silence.outcome().reason());
		}
	}

	/**
	 * What to try.
	 *
	 * @param topic the topic, or {@code null} for any
	 * @param row no later than the first one that was given back
	 */
	record Probe(@Nullable String topic, long row) {
	}

	private record Silence(Outcome.Unavailable outcome, long row) {
	}

	private static final class Destination {

		private final ProbeBackoff pause = new ProbeBackoff();

		private long firstRow;

		private boolean told;

		Destination(long firstRow) {
			this.firstRow = firstRow;
		}

	}

}
