package dev.idempotent.sample.rush;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.ToDoubleFunction;

/**
 * Compares the sale with a naive one that updates one row. Both are measured in turn, so
 * that other load of the machine affects both.
 */
final class Comparison {

	private static final int ROUNDS = 5;

	private static final int USERS = 1_000;

	private final Rushes rushes;

	Comparison(Rushes rushes) {
		this.rushes = rushes;
	}

	/**
	 * Measures both and returns a line for each figure.
	 */
	List<String> run() {
		List<Sample> sale = new ArrayList<>();
		List<Sample> naive = new ArrayList<>();
		// The first round warms up.
		for (int round = 0; round <= ROUNDS; round++) {
			sale.add(measure(false));
			naive.add(measure(true));
		}
		sale.remove(0);
		naive.remove(0);
		return List.of(line("accepted per second, %d users and as many units", sale, naive, Sample::acceptedPerSecond),
				line("refused per second, %d users and one unit", sale, naive, Sample::refusedPerSecond),
				line("99th percentile of accepted, ms", sale, naive, Sample::acceptedMillis));
	}

	private Sample measure(boolean naive) {
		Rush accepted = rush(USERS, naive);
		Rush refused = rush(1, naive);
		return new Sample(accepted.figures().perSecond(), refused.figures().perSecond(),
				accepted.figures().acceptedMillis().p99());
	}

	private Rush rush(int stock, boolean naive) {
		Rush rush = this.rushes.of(RushPlan.plain(USERS, stock, naive));
		rush.open();
		rush.run();
		return rush;
	}

	private static String line(String name, List<Sample> sale, List<Sample> naive, ToDoubleFunction<Sample> figure) {
		double ours = median(sale, figure);
		double theirs = median(naive, figure);
		return "%-52s sale %8.1f   naive %8.1f   ratio %.2f".formatted(name.formatted(USERS), ours, theirs,
				ours / theirs);
	}

	private static double median(List<Sample> samples, ToDoubleFunction<Sample> figure) {
		return samples.stream()
			.sorted(Comparator.comparingDouble(figure))
			.mapToDouble(figure)
			.skip(samples.size() / 2)
			.findFirst()
			.orElseThrow();
	}

	private record Sample(double acceptedPerSecond, double refusedPerSecond, double acceptedMillis) {

	}

}
