package dev.idempotent.benchmark.http;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import dev.idempotent.benchmark.Report;
import dev.idempotent.benchmark.Rounds;
import dev.idempotent.benchmark.Scenario;

/**
 * As many requests as possible, and what one costs. The contenders take turns in slices
 * of a round, so that a phase of the machine that is shorter than a round meets all.
 */
final class ThroughputScenario implements Scenario {

	private static final int SLICES = 5;

	private static final int SEQUENTIAL = 100;

	private final List<HttpContender> contenders;

	private final HttpLoad load;

	ThroughputScenario(List<HttpContender> contenders, HttpLoad load) {
		this.contenders = contenders;
		this.load = load.slice(SLICES);
	}

	@Override
	public String name() {
		return "throughput";
	}

	@Override
	public void round(int number, Report report) {
		for (int slice = 0; slice < SLICES; slice++) {
			slice(number * SLICES + slice, report);
		}
		this.contenders.forEach((contender) -> report.add(name(), contender.name(), "Redis round trips",
				contender.measure(this.load.sequential(SEQUENTIAL)).redisRoundTrips()));
	}

	private void slice(int number, Report report) {
		Map<String, Cost> costs = new LinkedHashMap<>();
		Rounds.inTurn(this.contenders, number)
			.forEach((contender) -> costs.put(contender.name(), contender.measure(this.load)));
		costs.forEach((name, cost) -> report(report, name, cost));
		Comparisons.all()
			.forEach((comparison) -> comparison.of(costs)
				.ifPresent((figure) -> report.ratio(comparison.name(), figure)));
	}

	private void report(Report report, String name, Cost cost) {
		report.add(name(), name, "requests/s", cost.perSecond());
		report.add(name(), name, "CPU us, application", cost.applicationMicros());
		report.add(name(), name, "CPU us, Redis", cost.redisMicros());
		report.add(name(), name, "CPU us, PostgreSQL", cost.postgresMicros());
		report.add(name(), name, "allocated bytes", cost.allocatedBytes());
		report.add(name(), name, "Redis commands", cost.redisCommands());
	}

}
