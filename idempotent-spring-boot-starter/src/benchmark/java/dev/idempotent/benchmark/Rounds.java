package dev.idempotent.benchmark;

import java.lang.management.CompilationMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;

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
	 * @param machine tells whether a round was disturbed
	 */
	public void run(List<Scenario> scenarios, Report report, Machine machine) {
		CompilationMXBean compilers = ManagementFactory.getCompilationMXBean();
		Report forgotten = new Report();
		for (int number = 0; number < this.warmUp + this.measured; number++) {
			Report current = (number < this.warmUp) ? forgotten : report;
			for (Scenario scenario : scenarios) {
				long compiled = compilers.getTotalCompilationTime();
				long begin = System.nanoTime();
				Machine.Use before = machine.now();
				scenario.round(number, current);
				double others = machine.now().othersSince(before);
				current.end(scenario.name(), others);
				System.out.printf(Locale.ROOT,
						"Round %d of %d: %s, %.0f s; other processes took %.0f %% of the machine, compilers %d ms%n",
						number + 1, this.warmUp + this.measured, scenario.name(), (System.nanoTime() - begin) / 1e9,
						others * 100, compilers.getTotalCompilationTime() - compiled);
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
