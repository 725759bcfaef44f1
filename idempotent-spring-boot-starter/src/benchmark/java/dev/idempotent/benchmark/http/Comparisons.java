package dev.idempotent.benchmark.http;

import java.util.ArrayList;
import java.util.List;

/**
 * The figures that have a goal.
 */
final class Comparisons {

	private final List<Comparison> all = new ArrayList<>();

	private Comparisons() {
	}

	static List<Comparison> all() {
		Comparisons comparisons = new Comparisons();
		comparisons.compare("first-vs-two-raw-calls", "lease-first", "two-raw-calls");
		comparisons.compare("replay-vs-one-raw-get", "lease-replay", "one-raw-get");
		comparisons.compare("cached-replay-vs-plain", "cached-replay", "plain");
		comparisons.compare("hot-key-409", "hot-key", "one-raw-get-64");
		comparisons.compare("transaction-vs-by-hand", "transaction-first", "transaction-by-hand");
		comparisons.compare("database-vs-by-hand", "database-first", "database-by-hand");
		comparisons.compare("transaction-replay-vs-one-raw-get", "transaction-replay", "one-raw-get");
		comparisons.compare("method-vs-two-raw-calls", "method-first", "two-raw-calls");
		comparisons.all.add(Comparison.ofApplicationTimes("unannotated-vs-plain",
				List.of("unannotated-present", "unannotated-variable-present"),
				List.of("unannotated-absent", "unannotated-variable-absent")));
		Recipes.ofToday().forEach((name, recipe) -> {
			if (recipe.parts().contains(Part.STARTER)) {
				comparisons.compare(name + "-vs-earlier", name, Recipes.earlier(name));
			}
		});
		return comparisons.all;
	}

	/**
	 * Compares rates, and processor times, which depend less on other load.
	 */
	private void compare(String name, String ours, String other) {
		this.all.add(Comparison.ofRates(name, ours, other));
		this.all.add(Comparison.ofProcessorTimes(name + "-cpu", ours, other));
	}

}
