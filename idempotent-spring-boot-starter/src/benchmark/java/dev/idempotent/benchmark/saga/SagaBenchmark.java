package dev.idempotent.benchmark.saga;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Supplier;

import dev.idempotent.benchmark.Contender;
import dev.idempotent.benchmark.Database;
import dev.idempotent.benchmark.Load;
import dev.idempotent.benchmark.Machine;
import dev.idempotent.benchmark.Report;
import dev.idempotent.benchmark.Rounds;
import dev.idempotent.benchmark.Scenario;
import dev.idempotent.benchmark.Settings;
import dev.idempotent.testing.RealPostgres;
import dev.idempotent.testing.RealRedis;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Measures sagas and prints a table; docs/benchmark.md says how to repeat it and what the
 * rows mean.
 */
class SagaBenchmark {

	private static final Settings settings = new Settings();

	@RegisterExtension
	static final RealPostgres postgres = RealPostgres.dedicatedWith("fsync=" + settings.text("fsync", "on"));

	@RegisterExtension
	static final RealRedis redis = RealRedis.dedicated();

	private final List<Contender> opened = new ArrayList<>();

	private final Load load = new Load(settings.number("clients", 4));

	private final Duration time = Duration.ofMillis(settings.number("saga-millis", 1000));

	@Test
	void measures() throws IOException {
		try {
			Report report = new Report();
			Rounds rounds = new Rounds(settings.number("warm-up", 3), settings.number("rounds", 15));
			rounds.run(scenarios(), report, Machine.with(postgres, redis));
			publish(report);
		}
		finally {
			this.opened.forEach(Contender::close);
		}
	}

	private List<Scenario> scenarios() {
		Store.Servers servers = new Store.Servers(postgres, redis, settings.number("pool-size", 16));
		Duration lease = Duration.ofMillis(settings.number("lease-millis", 2000));
		OwnSagas own = opened(new OwnSagas(OwnSagas.NAME, servers, 0, lease));
		Map<String, Supplier<Contender>> peers = Map.of("hand", () -> new ByHand("hand", servers, false), "status",
				() -> new ByHand("status", servers, true), DbosWorkflows.NAME, () -> new DbosWorkflows(servers));
		List<SagaContender> contenders = new ArrayList<>(List.of(own));
		for (String name : settings.names("contenders", "hand,status," + DbosWorkflows.NAME)) {
			contenders.add((SagaContender) opened(Objects.requireNonNull(peers.get(name)).get()));
		}
		List<Scenario> scenarios = new ArrayList<>();
		for (String name : settings.names("scenarios", "transactions,calls,ended,take-over")) {
			scenarios.add(switch (name) {
				case "transactions" ->
					new SagaScenario(name, contenders, SagaContender::transactions, this.load, this.time);
				case "calls" -> new SagaScenario(name, contenders, SagaContender::calls, this.load, this.time);
				case "ended" -> new SagaScenario(name, List
					.of(opened(new OwnSagas("ended", servers, settings.number("ended", 1_000_000), lease)), own),
						SagaContender::calls, this.load, this.time);
				case "take-over" -> new TakeOverScenario(own);
				default -> throw new IllegalArgumentException("Unknown scenario " + name);
			});
		}
		return scenarios;
	}

	private <T extends Contender> T opened(T contender) {
		this.opened.add(contender);
		return contender;
	}

	private void publish(Report report) throws IOException {
		String text = "%nJDK %s, %d processors, %s%n%s%n%n%s".formatted(Runtime.version(),
				Runtime.getRuntime().availableProcessors(), Database.describe(postgres), settings, report);
		System.out.println(text);
		Files.writeString(Files.createDirectories(Path.of("target", "benchmark")).resolve("sagas.md"), text);
	}

}
