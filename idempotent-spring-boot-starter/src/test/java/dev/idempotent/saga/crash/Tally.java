package dev.idempotent.saga.crash;

import java.util.Map;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.Collectors;

/**
 * Counts by name.
 */
final class Tally {

	private final Map<String, LongAdder> counts = new ConcurrentSkipListMap<>();

	void count(String name) {
		this.counts.computeIfAbsent(name, (unused) -> new LongAdder()).increment();
	}

	/**
	 * The sum of all counts whose names begin in one way.
	 */
	long sum(String prefix) {
		return this.counts.entrySet()
			.stream()
			.filter((each) -> each.getKey().startsWith(prefix))
			.mapToLong((each) -> each.getValue().sum())
			.sum();
	}

	/**
	 * The counts whose names begin in one way, by the rest of their names.
	 */
	String list(String prefix) {
		return this.counts.entrySet()
			.stream()
			.filter((each) -> each.getKey().startsWith(prefix))
			.map((each) -> each.getKey().substring(prefix.length()) + " " + each.getValue())
			.collect(Collectors.joining(" · "));
	}

}
