package dev.idempotent.benchmark.http;

import java.util.List;

import dev.idempotent.benchmark.Report;
import dev.idempotent.benchmark.Rounds;
import dev.idempotent.benchmark.Scenario;
import dev.idempotent.benchmark.http.load.LoadResult;

/**
 * Requests at a constant rate, from the time at which each was due until the whole
 * response was there.
 */
final class LatencyScenario implements Scenario {

	private static final double MICROS_PER_MILLI = 1000;

	private final List<HttpContender> contenders;

	private final HttpLoad load;

	LatencyScenario(List<HttpContender> contenders, HttpLoad load) {
		this.contenders = contenders;
		this.load = load;
	}

	@Override
	public String name() {
		return "latency";
	}

	@Override
	public void round(int number, Report report) {
		Rounds.inTurn(this.contenders, number).forEach((contender) -> {
			LoadResult result = contender.measure(this.load).result();
			report.add(name(), contender.name(), "ms p50", result.p50() / MICROS_PER_MILLI);
			report.add(name(), contender.name(), "ms p99", result.p99() / MICROS_PER_MILLI);
			report.add(name(), contender.name(), "ms max", result.max() / MICROS_PER_MILLI);
		});
	}

}
