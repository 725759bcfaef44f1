package dev.idempotent.benchmark.http;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import dev.idempotent.benchmark.Report;
import dev.idempotent.benchmark.Rounds;
import dev.idempotent.benchmark.Scenario;

/**
 * How fast a fresh JVM becomes fast: its requests in the first seconds, and how many it
 * answers until it has nine tenths of the rate of its last seconds.
 */
final class ColdScenario implements Scenario {

	private static final int SLICES_PER_SECOND = 2;

	private static final int SECONDS = 30;

	private static final int FIRST_SECONDS = 10;

	private static final int LAST_SECONDS = 5;

	private static final double STEADY = 0.9;

	private static final String RAW = "two-raw-calls";

	private final List<String> names;

	private final Servers servers;

	private final Jvms jvms;

	private final HttpLoad load;

	ColdScenario(List<String> names, Servers servers, Jvms jvms, HttpLoad load) {
		this.names = names;
		this.servers = servers;
		this.jvms = jvms;
		this.load = load.ofMillis(1000 / SLICES_PER_SECOND);
	}

	@Override
	public String name() {
		return "cold";
	}

	@Override
	public void round(int number, Report report) {
		Map<String, Double> rates = new HashMap<>();
		Rounds.inTurn(this.names, number).forEach((name) -> rates.put(name, measure(name, report)));
		rates.forEach((name, rate) -> {
			if (rates.containsKey(RAW) && !name.equals(RAW)) {
				report.ratio("cold-" + name + "-vs-raw", rate / rates.get(RAW));
			}
			if (rates.containsKey(Recipes.earlier(name))) {
				report.ratio("cold-" + name + "-vs-earlier", rate / rates.get(Recipes.earlier(name)));
			}
		});
	}

	/**
	 * Measures a contender.
	 * @return its requests per second in the first seconds
	 */
	private double measure(String name, Report report) {
		List<Double> rates = new ArrayList<>();
		try (HttpContender contender = new HttpContender(name, Recipes.named(name), this.servers, this.jvms)) {
			for (int slice = 0; slice < SECONDS * SLICES_PER_SECOND; slice++) {
				rates.add(contender.measure(this.load).perSecond());
			}
		}
		double first = mean(rates.subList(0, FIRST_SECONDS * SLICES_PER_SECOND));
		double steady = mean(rates.subList(rates.size() - LAST_SECONDS * SLICES_PER_SECOND, rates.size()));
		int until = 0;
		while (rates.get(until) < steady * STEADY) {
			until++;
		}
		report.add(name(), name, "requests/s, first 10 s", first);
		report.add(name(), name, "requests/s, last 5 s", steady);
		report.add(name(), name, "requests until 0.9",
				rates.subList(0, until).stream().mapToDouble(Double::doubleValue).sum() / SLICES_PER_SECOND);
		return first;
	}

	private static double mean(List<Double> values) {
		return values.stream().mapToDouble(Double::doubleValue).average().orElseThrow();
	}

}
