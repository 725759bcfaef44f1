package dev.idempotent.outbox.relay;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

import dev.idempotent.outbox.Outcome;
import dev.idempotent.outbox.Outcome.Scope;
import dev.idempotent.outbox.SerializedEvent;
import dev.idempotent.outbox.relay.BatchAnswers.Failure;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Circuit breaker of a publisher and of each of its destinations. While one is open, its
 * events are kept, except for a few that are sent as probes. All events of a paused topic
 * are kept.
 */
final class PublisherCircuit {

	private static final Logger logger = LoggerFactory.getLogger(PublisherCircuit.class);

	private final String publisher;

	private final Runnable onRecovery;

	private final ProbeBackoff publisherBackoff = new ProbeBackoff();

	private final Destinations destinations = new Destinations();

	private Set<String> paused = Set.of();

	/**
	 * Creates a closed circuit.
	 * @param publisher the prefix
	 * @param onRecovery called when events that were kept can be sent again
	 */
	PublisherCircuit(String publisher, Runnable onRecovery) {
		this.publisher = publisher;
		this.onRecovery = onRecovery;
	}

	/**
	 * Whether the publisher was available at the last attempt, even if some of its
	 * destinations were not.
	 */
	synchronized boolean isClosed() {
		return !this.publisherBackoff.isOpen();
	}

	/**
	 * Whether events to this topic may be sent.
	 */
	synchronized boolean isClosed(String topic) {
		return !this.publisherBackoff.isOpen() && this.destinations.of(topic) == null && !isPaused(topic);
	}

	/**
	 * The topics whose events are not claimed: {@link #failing()} and the paused ones.
	 */
	synchronized Set<String> unavailable() {
		Set<String> kept = new HashSet<>(this.destinations.topics());
		kept.addAll(this.paused);
		return Set.copyOf(kept);
	}

	/**
	 * The topics that were unavailable at the last attempt, paused or not.
	 */
	synchronized Set<String> failing() {
		return this.destinations.topics();
	}

	/**
	 * What is unavailable.
	 * @return the publisher first, then its destinations in alphabetical order
	 */
	synchronized List<OpenCircuit> open() {
		List<OpenCircuit> open = new ArrayList<>();
		if (this.publisherBackoff.isOpen()) {
			open.add(OpenCircuit.of(this.publisher, null, this.publisherBackoff));
		}
		open.addAll(this.destinations.describe(this.publisher));
		return open;
	}

	synchronized Set<String> paused() {
		return this.paused;
	}

	synchronized boolean isPaused(String topic) {
		return this.paused.contains(topic);
	}

	/**
	 * Sets the paused topics. Those of other publishers are ignored.
	 */
	synchronized void pause(Set<String> topics) {
		Set<String> before = this.paused;
		this.paused = topics.stream()
			.filter((topic) -> topic.startsWith(this.publisher + ':'))
			.collect(Collectors.toUnmodifiableSet());
		if (!this.paused.containsAll(before)) {
			this.onRecovery.run();
		}
	}

	/**
	 * Records the outcomes of a batch. Any response shows that the publisher is
	 * available.
	 */
	synchronized void record(List<SerializedEvent> events, List<Outcome> outcomes) {
		BatchAnswers answers = BatchAnswers.of(events, outcomes);
		if (answers.answered().isEmpty()) {
			openPublisher(answers.failed());
		}
		else {
			close(answers.answered());
		}
		answers.failed().forEach(this::open);
	}

	/**
	 * The probe that is due.
	 * @return {@code null} if none is due; without a topic if the publisher itself is
	 * unavailable
	 */
	synchronized @Nullable Probe nextProbe() {
		if (this.publisherBackoff.isOpen()) {
			return this.publisherBackoff.isDue() ? new Probe(null, 0) : null;
		}
		return this.destinations.longestUnprobed(this::isPaused)
			.filter((entry) -> entry.getValue().backoff.isDue())
			.map(Destinations::probe)
			.orElse(null);
	}

	/**
	 * The unavailable topic that has not been probed for the longest time.
	 */
	synchronized @Nullable Probe longestUnprobed() {
		return this.destinations.longestUnprobed(this::isPaused).map(Destinations::probe).orElse(null);
	}

	/**
	 * Waits for an event to probe with. Closes the circuit if there is none for a while:
	 * the next event then shows whether it is available.
	 */
	synchronized void awaitEvent(Probe probe) {
		Destination destination = this.destinations.of(probe.topic());
		ProbeBackoff backoff = (destination != null) ? destination.backoff : this.publisherBackoff;
		if (!backoff.startIdle()) {
			if (destination == null || destination.logged) {
				logger.info("{} counts as available again, after {}, because no event is left to probe it with",
						(destination != null) ? probe.topic() : this.publisher, backoff.failingFor());
			}
			backoff.succeeded();
			this.destinations.remove(destination);
			this.onRecovery.run();
		}
	}

	/**
	 * Records that there is an event to probe with.
	 */
	synchronized void eventAvailable(String topic) {
		Destination destination = this.destinations.of(topic);
		if (destination != null) {
			destination.backoff.endIdle();
		}
		this.publisherBackoff.endIdle();
	}

	/**
	 * Records that a key of a topic has an ordered event to probe with.
	 */
	synchronized void eventAvailable(String topic, long keyHash) {
		this.destinations.addKey(topic, keyHash);
		eventAvailable(topic);
	}

	/**
	 * Takes some of the keys with ordered events to probe a topic with.
	 */
	synchronized List<Long> takeKeys(String topic, int limit) {
		return this.destinations.takeKeys(topic, limit);
	}

	/**
	 * Makes the next probe start after a row, since the rows up to it cannot show whether
	 * the destination is available.
	 */
	synchronized void probeBehind(Probe probe, long row) {
		Destination destination = this.destinations.of(probe.topic());
		if (destination != null) {
			destination.skippedRow = row;
		}
	}

	private void close(Set<String> answered) {
		boolean recovered = this.publisherBackoff.isOpen();
		if (recovered) {
			logger.info("The publisher of {} is available again, after {}", this.publisher,
					this.publisherBackoff.failingFor());
			this.publisherBackoff.succeeded();
			this.destinations.endBackoffs();
		}
		for (String topic : answered) {
			Destination recoveredDestination = this.destinations.remove(topic);
			if (recoveredDestination != null && recoveredDestination.logged) {
				logger.info("The destination {} is available again, after {}", topic,
						recoveredDestination.backoff.failingFor());
			}
			recovered |= recoveredDestination != null;
		}
		if (recovered) {
			this.onRecovery.run();
		}
	}

	private void openPublisher(Map<String, Failure> failed) {
		boolean tooMany = this.destinations.exceededBy(failed.keySet());
		failed.values()
			.stream()
			.map(Failure::outcome)
			.filter((outcome) -> tooMany || outcome.scope() == Scope.PUBLISHER)
			.findFirst()
			.ifPresent((outcome) -> {
				if (isClosed()) {
					logger.warn("The publisher of {} is unavailable; events are kept until it recovers: {}",
							this.publisher, outcome.reason());
				}
				this.publisherBackoff.failed();
			});
	}

	private void open(String topic, Failure failure) {
		Destination destination = this.destinations.failed(topic, failure);
		if (destination != null && !this.publisherBackoff.isOpen() && !destination.logged) {
			destination.logged = true;
			logger.warn("The destination {} is unavailable; its events are kept until it recovers: {}", topic,
					failure.outcome().reason());
		}
	}

	/**
	 * What to probe.
	 *
	 * @param topic the topic, or {@code null} for any
	 * @param row where to look for an event
	 */
	record Probe(@Nullable String topic, long row) {
	}

}
