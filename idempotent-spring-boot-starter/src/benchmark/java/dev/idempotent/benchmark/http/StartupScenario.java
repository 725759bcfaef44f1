package dev.idempotent.benchmark.http;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

import dev.idempotent.benchmark.Report;
import dev.idempotent.benchmark.Rounds;
import dev.idempotent.benchmark.Scenario;

/**
 * From the start of the JVM until the application accepts requests: with the starter, and
 * with the client of Redis alone.
 */
final class StartupScenario implements Scenario {

	private static final String OURS = "lease-first";

	private static final String RAW = "two-raw-calls";

	private static final double NANOS_PER_SECOND = 1e9;

	private static final double MICROS_PER_SECOND = 1e6;

	private final Servers servers;

	private final Jvms jvms;

	StartupScenario(Servers servers, Jvms jvms) {
		this.servers = servers;
		this.jvms = jvms;
	}

	@Override
	public String name() {
		return "startup";
	}

	@Override
	public void round(int number, Report report) {
		Map<String, Start> starts = new HashMap<>();
		Rounds.inTurn(List.of(OURS, RAW), number).forEach((name) -> starts.put(name, start(name)));
		starts.forEach((name, start) -> {
			report.add(name(), name, "s", start.seconds());
			report.add(name(), name, "CPU s", start.processorSeconds());
		});
		Start ours = Objects.requireNonNull(starts.get(OURS));
		Start raw = Objects.requireNonNull(starts.get(RAW));
		report.ratio("startup-vs-raw", ours.seconds() / raw.seconds());
		report.ratio("startup-vs-raw-cpu", ours.processorSeconds() / raw.processorSeconds());
	}

	private Start start(String name) {
		long begin = System.nanoTime();
		try (HttpContender contender = new HttpContender(name, Recipes.named(name), this.servers, this.jvms)) {
			return new Start((System.nanoTime() - begin) / NANOS_PER_SECOND,
					contender.processorMicros() / MICROS_PER_SECOND);
		}
	}

	/**
	 * What a start took.
	 *
	 * @param seconds how long
	 * @param processorSeconds the processor time
	 */
	private record Start(double seconds, double processorSeconds) {
	}

}
