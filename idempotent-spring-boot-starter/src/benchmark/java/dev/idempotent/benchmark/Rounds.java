package dev.idempotent.benchmark;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * Runs scenarios in rounds: what is compared is measured within minutes of each other, so
 * that a slow phase of the machine meets all.
 *
 * @param warmUp how many rounds are run and forgotten
 * @param measured how many rounds are kept
 */
public record Rounds(int warmUp, int measured) {

	/**
	 * Runs scenarios.
	 * @param scenarios in this order within each round
	 * @param report takes the figures of the rounds that are kept
	 */
	public void run(List<Scenario> scenarios, Report report) {
		for (int number = 0; number < this.warmUp + this.measured; number++) {
			if (number == this.warmUp) {
				report.clear();
			}
			for (Scenario scenario : scenarios) {
				System.out.printf("Round %d of %d: %s%n", number + 1, this.warmUp + this.measured, scenario.name());
				scenario.round(number, report);
			}
		}
	}

	/**
	 * Lets another contender begin in each round.
	 * @param <T> the type of the contenders
	 * @param all the contenders
	 * @param number of the round
	 * @return all, in the order of that round
	 */
	public static <T> List<T> inTurn(List<T> all, int number) {
		List<T> turned = new ArrayList<>(all);
		Collections.rotate(turned, number);
		return turned;
	}

}
