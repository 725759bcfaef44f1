package dev.idempotent.sample.rush;

import java.util.List;

/**
 * Whether a sale has kept its promises.
 *
 * @param item the item on sale
 * @param settled whether each line is decided
 * @param holds whether each line holds
 * @param lines the promises
 */
record Verdict(String item, boolean settled, boolean holds, List<Line> lines) {

	static Verdict of(String item, List<Line> lines) {
		return new Verdict(item, lines.stream().noneMatch((line) -> line.state() == State.WAITING),
				lines.stream().allMatch((line) -> line.state() == State.HOLDS), lines);
	}

	/**
	 * One promise.
	 *
	 * @param number its number
	 * @param rule the promise
	 * @param state whether it was kept
	 * @param detail what was found
	 */
	record Line(int number, String rule, State state, String detail) {

		@Override
		public String toString() {
			return "%d %-7s %s%s".formatted(this.number, this.state, this.rule,
					this.detail.isEmpty() ? "" : ": " + this.detail);
		}

	}

	/**
	 * Whether a promise was kept.
	 */
	enum State {

		/**
		 * It was kept.
		 */
		HOLDS,

		/**
		 * It was broken.
		 */
		BROKEN,

		/**
		 * The sale is not at rest, so it is too early to say.
		 */
		WAITING

	}

}
