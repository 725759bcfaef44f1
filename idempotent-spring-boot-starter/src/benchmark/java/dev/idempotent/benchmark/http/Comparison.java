package dev.idempotent.benchmark.http;

import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.ToDoubleFunction;
import java.util.stream.Stream;

/**
 * A figure that has a goal, from the costs of two groups of contenders in one round.
 *
 * @param name as the documentation has it
 * @param ours which are compared
 * @param others with which
 * @param figure from the costs of ours and of the others
 */
record Comparison(String name, List<String> ours, List<String> others, Figure figure) {

	static Comparison ofRates(String name, String ours, String other) {
		return new Comparison(name, List.of(ours), List.of(other),
				(own, others) -> sum(own, Cost::perSecond) / sum(others, Cost::perSecond));
	}

	/**
	 * The processor time of application and servers, the others' divided by that of ours.
	 */
	static Comparison ofProcessorTimes(String name, String ours, String other) {
		return new Comparison(name, List.of(ours), List.of(other),
				(own, others) -> sum(others, Cost::micros) / sum(own, Cost::micros));
	}

	/**
	 * The processor time of the applications, the others' divided by that of ours.
	 */
	static Comparison ofApplicationTimes(String name, List<String> ours, List<String> others) {
		return new Comparison(name, ours, others,
				(own, other) -> sum(other, Cost::applicationMicros) / sum(own, Cost::applicationMicros));
	}

	/**
	 * The figure of a round.
	 * @return empty if a contender was not measured
	 */
	Optional<Double> of(Map<String, Cost> costs) {
		boolean complete = Stream.concat(this.ours.stream(), this.others.stream()).allMatch(costs::containsKey);
		return complete ? Optional.of(this.figure.of(select(costs, this.ours), select(costs, this.others)))
				: Optional.empty();
	}

	private static List<Cost> select(Map<String, Cost> costs, List<String> names) {
		return names.stream().map((name) -> Objects.requireNonNull(costs.get(name))).toList();
	}

	private static double sum(List<Cost> costs, ToDoubleFunction<Cost> part) {
		return costs.stream().mapToDouble(part).sum();
	}

	/**
	 * What is compared.
	 */
	interface Figure {

		double of(List<Cost> ours, List<Cost> others);

	}

}
