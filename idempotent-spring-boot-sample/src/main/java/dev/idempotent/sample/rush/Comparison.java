package dev.idempotent.sample.rush;

import java.util.List;
import java.util.function.Supplier;
import java.util.function.ToDoubleFunction;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import dev.idempotent.sample.rush.RushPlan.Behaviour;
import dev.idempotent.sample.rush.RushTally.Figures;

/**
 * Compares the sale with the naive one. Both are measured in turn, so that other load of
 * the machine affects both.
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
	Stream<String> run() {
		Pair reserve = measure(() -> rush(USERS, false, Behaviour.RESERVE), () -> rush(USERS, true, Behaviour.RESERVE));
		Pair buy = measure(() -> rush(USERS, false, Behaviour.BUY), () -> rush(USERS, true, Behaviour.RESERVE));
		Pair refuse = measure(() -> rush(1, false, Behaviour.RESERVE), () -> rush(1, true, Behaviour.RESERVE));
		Pair look = measure(() -> rush(1, false, Behaviour.LOOK), () -> rush(1, true, Behaviour.RESERVE));
		return Stream.of(reserve.line("accepted/s: reserved, or ordered by the naive sale", Figures::perSecond),
				reserve.line("99th percentile of accepted, ms", (figures) -> figures.acceptedMillis().p99()),
				buy.line("sold/s: reserved and ordered, or ordered by the naive sale", Figures::perSecond),
				refuse.line("refused/s: requests for a unit", Figures::perSecond),
				look.line("refused/s: looks at the door, or requests to the naive sale", Figures::perSecond));
	}

	private static Pair measure(Supplier<Figures> sale, Supplier<Figures> naive) {
		// The first round warms up.
		List<Pair> rounds = IntStream.rangeClosed(0, ROUNDS)
			.mapToObj((round) -> new Pair(List.of(sale.get()), List.of(naive.get())))
			.skip(1)
			.toList();
		return new Pair(rounds.stream().flatMap((round) -> round.sale.stream()).toList(),
				rounds.stream().flatMap((round) -> round.naive.stream()).toList());
	}

	private Figures rush(int stock, boolean naive, Behaviour behaviour) {
		Rush rush = this.rushes.of(RushPlan.measured(USERS, stock, naive, behaviour));
		rush.open();
		rush.run();
		return rush.figures();
	}

	private record Pair(List<Figures> sale, List<Figures> naive) {

		String line(String name, ToDoubleFunction<Figures> figure) {
			double ours = median(this.sale, figure);
			double theirs = median(this.naive, figure);
			return "%-60s sale %7.1f   naive %7.1f   ratio %.2f".formatted(name, ours, theirs, ours / theirs);
		}

		private static double median(List<Figures> rounds, ToDoubleFunction<Figures> figure) {
			return rounds.stream().mapToDouble(figure).sorted().skip(rounds.size() / 2).findFirst().orElseThrow();
		}

	}

}
