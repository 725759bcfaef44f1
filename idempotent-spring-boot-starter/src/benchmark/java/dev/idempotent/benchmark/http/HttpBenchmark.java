package dev.idempotent.benchmark.http;

import java.io.IOException;
import java.nio.file.Files;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;

import dev.idempotent.benchmark.Contender;
import dev.idempotent.benchmark.Database;
import dev.idempotent.benchmark.Report;
import dev.idempotent.benchmark.Rounds;
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
		List<HttpContender> contenders = new ArrayList<>();
		try (ChildJvm generator = jvms.generator()) {
			open(contenders, jvms);
			HttpLoad load = new HttpLoad(generator, settings.number("clients", 16), settings.number("bytes", 200), 0,
					settings.number("requests", 0), Duration.ofMillis(settings.number("request-millis", 2500)));
			warmUp(contenders, load.times(settings.number("warm-up-requests", 20_000)));
			Report report = new Report();
			new Rounds(0, settings.number("rounds", 5)).run(List.of(new ThroughputScenario(contenders, load)), report);
			publish(report);
		}
		finally {
			contenders.forEach(Contender::close);
		}
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

	private static void open(List<HttpContender> contenders, Jvms jvms) {
		Map<String, Recipe> recipes = Recipes.all();
		Servers servers = new Servers(redis, postgres);
		settings.names("contenders", String.join(",", recipes.keySet())).forEach((name) -> {
			Recipe recipe = Objects.requireNonNull(recipes.get(name), () -> "There is no contender " + name);
			contenders.add(new HttpContender(name, recipe, servers, jvms));
		});
	}

	private static void publish(Report report) throws IOException {
		String text = "%nJDK %s, %d processors, %s%n%s%n%n%s".formatted(Runtime.version(),
				Runtime.getRuntime().availableProcessors(), Database.describe(postgres), settings, report);
		System.out.println(text);
		Files.writeString(Files.createDirectories(Output.FOLDER).resolve("http.md"), text);
	}

}
