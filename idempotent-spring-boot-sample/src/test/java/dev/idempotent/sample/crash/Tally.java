package dev.idempotent.sample.crash;

import java.util.Map;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.Collectors;

/**
 * Counts things by name.
 */
final class Tally {

	private final Map<String, LongAdder> counts = new ConcurrentSkipListMap<>();

	void count(String name) {
		this.counts.computeIfAbsent(name, (unseen) -> new LongAdder()).increment();
	}

	long of(String name) {
		return this.counts.getOrDefault(name, new LongAdder()).sum();
	}

	long total() {
		return this.counts.values().stream().mapToLong(LongAdder::sum).sum();
	}

	@Override
	public String toString() {
		return this.counts.isEmpty() ? "none"
				: this.counts.entrySet()
					.stream()
					.map((count) -> count.getKey() + " " + count.getValue())
					.collect(Collectors.joining(" · "));
	}

}
