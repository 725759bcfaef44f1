package dev.idempotent.outbox.courier;

import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;

import dev.idempotent.outbox.OutboxPublisher;
import dev.idempotent.outbox.OutboxTopics;

/**
 * One circuit for each publisher.
 */
final class PublisherCircuits {

	private final Map<String, PublisherCircuit> circuits = new TreeMap<>();

	PublisherCircuits(OutboxTopics topics) {
		for (OutboxPublisher publisher : topics.publishers()) {
			this.circuits.put(publisher.prefix(), new PublisherCircuit(publisher.prefix()));
		}
	}

	PublisherCircuit of(String publisher) {
		PublisherCircuit circuit = this.circuits.get(publisher);
		if (circuit == null) {
			throw new IllegalStateException("There is no publisher for " + publisher);
		}
		return circuit;
	}

	boolean areClosed() {
		return this.circuits.values().stream().allMatch(PublisherCircuit::isClosed);
	}

	/**
	 * The publishers that events may be sent to.
	 */
	Set<String> permitted() {
		return this.circuits.entrySet()
			.stream()
			.filter((entry) -> entry.getValue().permits())
			.map(Map.Entry::getKey)
			.collect(Collectors.toUnmodifiableSet());
	}

	/**
	 * Those that were unavailable when they were last asked.
	 */
	Set<String> unavailable() {
		return this.circuits.entrySet()
			.stream()
			.filter((entry) -> !entry.getValue().isClosed())
			.map(Map.Entry::getKey)
			.collect(Collectors.toUnmodifiableSet());
	}

}
