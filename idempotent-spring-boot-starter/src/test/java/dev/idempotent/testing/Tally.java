package dev.idempotent.testing;

import java.util.Map;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.Collectors;

/**
 * Counts by name.
 */
public final class Tally {

	private final Map<String, LongAdder> counts = new ConcurrentSkipListMap<>();

	public void count(String name) {
		this.counts.computeIfAbsent(name, (unused) -> new LongAdder()).increment();
	}

	/**
	 * The sum of all counts whose names begin in one way.
	 */
	public long sum(String prefix) {
		return this.counts.entrySet()
			.stream()
			.filter((each) -> each.getKey().startsWith(prefix))
			.mapToLong((each) -> each.getValue().sum())
			.sum();
	}

	/**
	 * The counts whose names begin in one way, by the rest of their names.
	 */
	public String list(String prefix) {
		return this.counts.entrySet()
			.stream()
			.filter((each) -> each.getKey().startsWith(prefix))
			.map((each) -> each.getKey().substring(prefix.length()) + " " + each.getValue())
			.collect(Collectors.joining(" · "));
	}

}
