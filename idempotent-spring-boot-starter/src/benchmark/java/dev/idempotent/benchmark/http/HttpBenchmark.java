package dev.idempotent.benchmark.http;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

import dev.idempotent.benchmark.Contender;
import dev.idempotent.benchmark.Database;
import dev.idempotent.benchmark.Machine;
import dev.idempotent.benchmark.Report;
import dev.idempotent.benchmark.Rounds;
import dev.idempotent.benchmark.Scenario;
import dev.idempotent.benchmark.Settings;
import dev.idempotent.testing.RealPostgres;
import dev.idempotent.testing.RealRedis;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Measures idempotent requests over HTTP and prints a table; docs/benchmark.md says how
 * to repeat it and what the rows mean.
 */
class HttpBenchmark {

	private static final Settings settings = new Settings();

	/**
	 * Lets the compilers of a contender that answers a thousand requests a second see
	 * enough of them during the warm-up.
	 */
	private static final List<String> WARM = List.of("-XX:CompileThresholdScaling=0.1");

	/**
	 * A warm-up has ended when this many bursts in a row cost as much as the best before.
	 */
	private static final int BURSTS_WITHOUT_GAIN = 2;

	private static final double GAIN = 0.05;

	private static final Duration REST = Duration.ofSeconds(1);

	/**
	 * The share of one processor that the contenders take when nobody calls them.
	 */
	private static final double MOST_AT_REST = 0.1;

	@RegisterExtension
	static final RealPostgres postgres = RealPostgres.dedicatedWith("fsync=" + settings.text("fsync", "on"));

	@RegisterExtension
	static final RealRedis redis = RealRedis.dedicated();

	@Test
	void measures() throws IOException {
		String home = settings.text("jvm", System.getProperty("java.home"));
		ApplicationClassPath classPath = ApplicationClassPath.create(Path.of(settings.text("earlier", "none")));
		Jvms jvms = new Jvms(home, classPath, WARM);
		Servers servers = new Servers(redis, postgres);
		Report report = new Report();
		Machine machine = Machine.with(postgres, redis);
		Rounds rounds = new Rounds(0, settings.number("rounds", 4));
		List<String> scenarios = settings.names("scenarios", "throughput,startup");
		List<String> chosen = settings.names("contenders", String.join(",", Recipes.ofToday().keySet()));
		chosen.forEach(Recipes::named);
		try (ChildJvm generator = jvms.generator()) {
			HttpLoad load = new HttpLoad(generator, settings.number("clients", 16), settings.number("bytes", 200), 0,
					settings.number("requests", 0), Duration.ofMillis(settings.number("request-millis", 2000)));
			for (List<String> names : Recipes.groups(chosen)) {
				List<HttpContender> contenders = new ArrayList<>();
				try {
					names.forEach((name) -> contenders.add(open(name, servers, jvms)));
					warmUp(contenders, load);
					rounds.run(scenarios(scenarios, contenders, load), report, machine);
				}
				finally {
					contenders.forEach(Contender::close);
				}
			}
			if (scenarios.contains("startup")) {
				rounds.run(List.of(new StartupScenario(servers, new Jvms(home, classPath, List.of()))), report,
						machine);
			}
			if (scenarios.contains("cold")) {
				rounds.run(List.of(new ColdScenario(chosen, servers, new Jvms(home, classPath, List.of()), load)),
						report, machine);
			}
			report.publish("http", Database.describe(postgres), settings);
		}
	}

	private static HttpContender open(String name, Servers servers, Jvms jvms) {
		String threads = "spring.threads.virtual.enabled=" + settings.text("virtual-threads", "false");
		return new HttpContender(name, Recipes.named(name).with(threads), servers, jvms);
	}

	/**
	 * Sends bursts of requests, with rests for the compilers, until they no longer lower
	 * the processor time of a request.
	 */
	private static void warmUp(List<HttpContender> contenders, HttpLoad load) {
		double least = Double.MAX_VALUE;
		int withoutGain = 0;
		int most = settings.number("warm-up", 8);
		for (int burst = 1; burst <= most && withoutGain < BURSTS_WITHOUT_GAIN; burst++) {
			double micros = contenders.stream()
				.mapToDouble((contender) -> contender.measure(load).applicationMicros())
				.sum();
			withoutGain = (micros > least * (1 - GAIN)) ? withoutGain + 1 : 0;
			least = Math.min(least, micros);
			System.out.printf("Warm-up %d of at most %d: %.0f us of the applications%n", burst, most, micros);
			awaitRest(contenders);
		}
		if (settings.text("profile", "none").equals("jfr")) {
			contenders.forEach((contender) -> contender.record(Output.FOLDER.resolve(contender.name() + ".jfr")));
		}
	}

	/**
	 * Waits until the compilers of the contenders have ended what the warm-up began.
	 */
	private static void awaitRest(List<HttpContender> contenders) {
		double[] before = { Double.MAX_VALUE };
		Awaitility.await().atMost(Duration.ofMinutes(2)).pollInterval(REST).until(() -> {
			double now = contenders.stream().mapToDouble(HttpContender::processorMicros).sum();
			double used = now - before[0];
			before[0] = now;
			return Double.isNaN(now) || used >= 0 && used < REST.toNanos() / 1000.0 * MOST_AT_REST;
		});
	}

	private static List<Scenario> scenarios(List<String> names, List<HttpContender> contenders, HttpLoad load) {
		HttpLoad paced = load.paced(settings.number("latency-rate", 500),
				Duration.ofMillis(settings.number("latency-millis", 1000)));
		return Stream.of(new ThroughputScenario(contenders, load), new LatencyScenario(contenders, paced))
			.filter((scenario) -> !contenders.isEmpty() && names.contains(scenario.name()))
			.toList();
	}

}
