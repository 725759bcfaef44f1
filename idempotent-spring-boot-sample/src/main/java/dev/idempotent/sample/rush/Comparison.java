package dev.idempotent.sample.rush;

import java.util.ArrayList;
import java.util.List;
import java.util.function.ToDoubleFunction;
import java.util.stream.Stream;

import dev.idempotent.sample.rush.RushPlan.Behaviour;
import dev.idempotent.sample.rush.RushTally.Figures;

/**
 * Compares the sale with the naive one. Both are measured in turn, so that other load of
 * the machine affects both.
 */
final class Comparison {

	private static final int ROUNDS = 5;

	private final List<Figures> sale = new ArrayList<>();

	private final List<Figures> naive = new ArrayList<>();

	private Comparison(Rushes rushes, int users, int stock, Behaviour behaviour) {
		for (int round = 0; round < ROUNDS; round++) {
			this.sale.add(rushes.measure(users, stock, behaviour, false));
			this.naive.add(rushes.measure(users, stock, Behaviour.RESERVE, true));
		}
	}

	/**
	 * Measures both and returns a line for each figure.
	 */
	static Stream<String> of(Rushes rushes, int users) {
		Comparison reserve = new Comparison(rushes, users, users, Behaviour.RESERVE);
		Comparison buy = new Comparison(rushes, users, users, Behaviour.BUY);
		Comparison refuse = new Comparison(rushes, users, 1, Behaviour.RESERVE);
		return Stream.of(reserve.line("accepted/s: reserved, or ordered by the naive sale", Figures::perSecond),
				reserve.line("99th percentile of accepted, ms", (figures) -> figures.acceptedMillis().p99()),
				buy.line("sold/s: reserved and ordered, or ordered by the naive sale", Figures::perSecond),
				refuse.line("refused/s: requests for a unit", Figures::perSecond));
	}

	private String line(String name, ToDoubleFunction<Figures> figure) {
		double sale = median(this.sale, figure);
		double naive = median(this.naive, figure);
		return "%-60s sale %7.1f   naive %7.1f   ratio %.2f".formatted(name, sale, naive, sale / naive);
	}

	private static double median(List<Figures> rounds, ToDoubleFunction<Figures> figure) {
		return rounds.stream().mapToDouble(figure).sorted().skip(rounds.size() / 2).findFirst().orElseThrow();
	}

}
