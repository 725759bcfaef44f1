package dev.idempotent.outbox.relay;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Predicate;

import dev.idempotent.outbox.relay.BatchAnswers.Failure;
import dev.idempotent.outbox.relay.PublisherCircuit.Probe;
import org.jspecify.annotations.Nullable;

/**
 * The unavailable topics of a publisher. Guarded by its circuit.
 */
final class Destinations {

	/**
	 * Each one is a parameter of every claim. If more are unavailable, the publisher
	 * counts as unavailable.
	 */
	static final int MAX = 50;

	/**
	 * How many keys of a destination are remembered to probe it with.
	 */
	private static final int MAX_KEYS = 100;

	private final Map<String, Destination> byTopic = new HashMap<>();

	@Nullable Destination of(@Nullable String topic) {
		return (topic != null) ? this.byTopic.get(topic) : null;
	}

	Set<String> topics() {
		return Set.copyOf(this.byTopic.keySet());
	}

	/**
	 * Describes them, in alphabetical order.
	 */
	List<OpenCircuit> describe(String publisher) {
		List<OpenCircuit> described = new ArrayList<>();
		new TreeMap<>(this.byTopic)
			.forEach((topic, destination) -> described.add(OpenCircuit.of(publisher, topic, destination.backoff)));
		return described;
	}

	/**
	 * Returns whether topics cannot all be added.
	 */
	boolean exceededBy(Set<String> topics) {
		return !this.byTopic.keySet().containsAll(topics) && this.byTopic.size() >= MAX;
	}

	/**
	 * Adds a topic that has failed, or counts another failure.
	 * @return {@code null} if there are too many
	 */
	@Nullable Destination failed(String topic, Failure failure) {
		if (exceededBy(Set.of(topic))) {
			return null;
		}
		Destination destination = this.byTopic.computeIfAbsent(topic, (key) -> new Destination(failure.row()));
		destination.firstRow = Math.min(destination.firstRow, failure.row());
		destination.backoff.failed();
		return destination;
	}

	@Nullable Destination remove(String topic) {
		return this.byTopic.remove(topic);
	}

	void remove(@Nullable Destination destination) {
		this.byTopic.values().remove(destination);
	}

	/**
	 * Makes all of them due to be probed.
	 */
	void endBackoffs() {
		this.byTopic.values().forEach((destination) -> destination.backoff.endNow());
	}

	void addKey(String topic, long keyHash) {
		Destination destination = of(topic);
		if (destination != null && destination.keys.size() < MAX_KEYS) {
			destination.keys.add(keyHash);
		}
	}

	List<Long> takeKeys(String topic, int limit) {
		Destination destination = of(topic);
		if (destination == null) {
			return List.of();
		}
		List<Long> taken = destination.keys.stream().limit(limit).toList();
		taken.forEach(destination.keys::remove);
		return taken;
	}

	/**
	 * Finds the one that has not been probed for the longest time.
	 * @param excluded topics that are not probed
	 */
	Optional<Map.Entry<String, Destination>> longestUnprobed(Predicate<String> excluded) {
		long now = System.nanoTime();
		return this.byTopic.entrySet()
			.stream()
			.filter((entry) -> !excluded.test(entry.getKey()) && entry.getValue().backoff.mayFindEvent())
			.min(Comparator.comparingLong((entry) -> entry.getValue().backoff.end() - now));
	}

	static Probe probe(Map.Entry<String, Destination> entry) {
		return new Probe(entry.getKey(), Math.max(entry.getValue().firstRow, entry.getValue().skippedRow + 1));
	}

}
