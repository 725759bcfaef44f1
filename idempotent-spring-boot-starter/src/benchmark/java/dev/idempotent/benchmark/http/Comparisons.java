package dev.idempotent.benchmark.http;

import java.util.List;

/**
 * The figures that have a goal.
 */
final class Comparisons {

	private Comparisons() {
	}

	static List<Comparison> all() {
		return List.of(Comparison.ofRates("first-vs-two-raw-calls", "lease-first", "two-raw-calls"),
				Comparison.ofRates("replay-vs-one-raw-get", "lease-replay", "one-raw-get"),
				Comparison.ofRates("cached-replay-vs-plain", "cached-replay", "plain"),
				Comparison.ofRates("hot-key-409", "hot-key", "one-raw-get-64"),
				Comparison.ofProcessorTimes("unannotated-vs-plain",
						List.of("unannotated-present", "unannotated-variable-present"),
						List.of("unannotated-absent", "unannotated-variable-absent")),
				Comparison.ofRates("transaction-vs-by-hand", "transaction-first", "transaction-by-hand"),
				Comparison.ofRates("transaction-replay-vs-one-raw-get", "transaction-replay", "one-raw-get"),
				Comparison.ofRates("method-vs-two-raw-calls", "method-first", "two-raw-calls"),
				Comparison.ofAllocations("allocation-first", "lease-first", "two-raw-calls"));
	}

}
