package dev.idempotent.benchmark.outbox;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

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
 * Measures handlers in the application and prints a table; docs/benchmark.md says how to
 * repeat it and what the rows mean. All contenders are in this JVM, and idle but for one.
 */
class HandlerBenchmark {

	private static final Settings settings = new Settings();

	@RegisterExtension
	static final RealPostgres postgres = RealPostgres.dedicatedWith("fsync=" + settings.text("fsync", "on"));

	@RegisterExtension
	static final RealRedis redis = RealRedis.dedicated();

	private final Load load = new Load(settings.number("clients", 4));

	@Test
	void measures() throws IOException {
		List<HandlerContender> contenders = new ArrayList<>();
		try {
			open(contenders);
			Report report = new Report();
			new Rounds(settings.number("warm-up", 2), settings.number("rounds", 4)).run(scenarios(contenders), report,
					Machine.with(postgres, redis));
			report.publish("handlers", Database.describe(postgres), settings);
		}
		finally {
			contenders.forEach(Contender::close);
		}
	}

	private static void open(List<HandlerContender> contenders) {
		Servers servers = new Servers((name) -> Database.create(postgres, name), redis,
				settings.number("pool-size", 16));
		int threads = settings.number("threads", 12);
		NamastackOutbox.Tuning tuning = NamastackOutbox.Tuning.of(settings);
		String all = String.join(",", OwnHandlers.TRANSACTIONAL, OwnHandlers.AT_LEAST_ONCE, OwnHandlers.BATCHES,
				LoopHandlers.NAME, NamastackHandlers.NAME, GruelboxHandlers.NAME, ModulithHandlers.NAME,
				DirectHandlers.NAME);
		for (String name : settings.names("contenders", all)) {
			contenders.add(switch (name) {
				case OwnHandlers.TRANSACTIONAL, OwnHandlers.AT_LEAST_ONCE, OwnHandlers.BATCHES ->
					new OwnHandlers(name, servers, threads);
				case LoopHandlers.NAME -> new LoopHandlers(servers, threads);
				case NamastackHandlers.NAME -> new NamastackHandlers(servers, tuning);
				case GruelboxHandlers.NAME -> new GruelboxHandlers(servers, threads);
				case ModulithHandlers.NAME -> new ModulithHandlers(servers, threads);
				case DirectHandlers.NAME -> new DirectHandlers(servers, threads);
				default -> throw new IllegalArgumentException("Unknown contender " + name);
			});
		}
	}

	private List<Scenario> scenarios(List<HandlerContender> contenders) {
		List<String> names = settings.names("scenarios", "drain,latency,cost");
		return Stream
			.of(new HandledDrainScenario(contenders, this.load, settings.number("backlog", 5_000)),
					new HandledLatencyScenario(contenders, this.load, settings.number("latency-rate", 200),
							Duration.ofSeconds(settings.number("latency-seconds", 5))),
					new HandledCostScenario(contenders, this.load, settings.number("cost-events", 500)))
			.filter((scenario) -> names.contains(scenario.name()))
			.toList();
	}

}
