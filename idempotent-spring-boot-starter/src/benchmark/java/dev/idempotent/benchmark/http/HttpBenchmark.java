package dev.idempotent.benchmark.http;

import java.io.IOException;
import java.nio.file.Files;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import dev.idempotent.benchmark.Contender;
import dev.idempotent.benchmark.Database;
import dev.idempotent.benchmark.Report;
import dev.idempotent.benchmark.Rounds;
import dev.idempotent.benchmark.Scenario;
import dev.idempotent.benchmark.Settings;
import dev.idempotent.testing.RealPostgres;
import dev.idempotent.testing.RealRedis;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Measures idempotent requests over HTTP and prints a table; docs/benchmark.md says how
 * to repeat it and what the rows mean.
 */
class HttpBenchmark {

	private static final Settings settings = new Settings();

	@RegisterExtension
	static final RealPostgres postgres = RealPostgres.dedicatedWith("fsync=" + settings.text("fsync", "on"));

	@RegisterExtension
	static final RealRedis redis = RealRedis.dedicated();

	@Test
	void measures() throws IOException {
		Jvms jvms = new Jvms(settings.text("jvm", System.getProperty("java.home")), ApplicationClassPath.create());
		Servers servers = new Servers(redis, postgres);
		List<HttpContender> contenders = new ArrayList<>();
		try (ChildJvm generator = jvms.generator()) {
			HttpLoad load = new HttpLoad(generator, settings.number("clients", 16), settings.number("bytes", 200), 0,
					settings.number("requests", 0), Duration.ofMillis(settings.number("request-millis", 2500)));
			open(contenders, servers, jvms);
			warmUp(contenders, load.times(settings.number("warm-up-requests", 20_000)));
			Report report = new Report();
			new Rounds(0, settings.number("rounds", 5)).run(scenarios(contenders, load, servers, jvms), report);
			publish(report, contenders);
		}
		finally {
			contenders.forEach(Contender::close);
		}
	}

	private static void open(List<HttpContender> contenders, Servers servers, Jvms jvms) {
		String threads = "spring.threads.virtual.enabled=" + settings.text("virtual-threads", "false");
		settings.names("contenders", String.join(",", Recipes.all().keySet()))
			.forEach((name) -> contenders
				.add(new HttpContender(name, Recipes.named(name).with(threads), servers, jvms)));
	}

	private static void warmUp(List<HttpContender> contenders, HttpLoad load) {
		contenders.forEach((contender) -> {
			System.out.printf("Warm-up of %s, process %d%n", contender.name(), contender.processId());
			contender.measure(load);
			if (settings.text("profile", "none").equals("jfr")) {
				contender.record(Output.FOLDER.resolve(contender.name() + ".jfr"));
			}
		});
	}

	private static List<Scenario> scenarios(List<HttpContender> contenders, HttpLoad load, Servers servers, Jvms jvms) {
		HttpLoad paced = load.paced(settings.number("latency-rate", 500),
				Duration.ofMillis(settings.number("latency-millis", 1500)));
		List<String> names = settings.names("scenarios", "throughput,latency,startup");
		return List
			.of(new ThroughputScenario(contenders, load), new LatencyScenario(contenders, paced),
					new StartupScenario(servers, jvms))
			.stream()
			.filter((scenario) -> names.contains(scenario.name()))
			.toList();
	}

	private static void publish(Report report, List<HttpContender> contenders) throws IOException {
		String text = "%nJDK %s, %d processors, %s%n%s%n%n%s".formatted(Runtime.version(),
				Runtime.getRuntime().availableProcessors(), Database.describe(postgres), settings, report);
		System.out.println(text);
		Files.writeString(Files.createDirectories(Output.FOLDER).resolve("http.md"), text);
		Files.writeString(Output.FOLDER.resolve("http.svg"),
				new Chart(report, contenders.stream().map(HttpContender::name).toList()).toString());
	}

}
