package dev.idempotent.benchmark.saga;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Supplier;

import dev.idempotent.benchmark.Contender;
import dev.idempotent.benchmark.Database;
import dev.idempotent.benchmark.Load;
import dev.idempotent.benchmark.Machine;
import dev.idempotent.benchmark.Report;
import dev.idempotent.benchmark.Rounds;
import dev.idempotent.benchmark.Scenario;
import dev.idempotent.benchmark.Settings;
import dev.idempotent.benchmark.saga.ByHand.Trace;
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
			Rounds rounds = new Rounds(settings.number("warm-up", 3), settings.number("rounds", 9));
			rounds.run(scenarios(), report, Machine.with(postgres, redis));
			report.publish("sagas", Database.describe(postgres), settings);
		}
		finally {
			this.opened.forEach(Contender::close);
		}
	}

	private List<Scenario> scenarios() {
		Store.Servers servers = new Store.Servers(postgres, redis, settings.number("pool-size", 16));
		Duration lease = Duration.ofMillis(settings.number("lease-millis", 2000));
		OwnSagas own = opened(new OwnSagas(OwnSagas.NAME, servers, 0, 0, lease));
		OwnSagas full = opened(new OwnSagas("full", servers, settings.number("ended", 1_000_000),
				settings.number("open", 100_000), lease));
		Map<String, Supplier<Contender>> peers = Map.of("hand", () -> new ByHand("hand", servers, Trace.NONE), "status",
				() -> new ByHand("status", servers, Trace.STATUS), "journal",
				() -> new ByHand("journal", servers, Trace.JOURNAL), DbosWorkflows.NAME,
				() -> new DbosWorkflows(servers));
		List<SagaContender> all = new ArrayList<>(List.of(own));
		for (String name : settings.names("contenders", "hand,status,journal," + DbosWorkflows.NAME)) {
			all.add((SagaContender) opened(Objects.requireNonNull(peers.get(name)).get()));
		}
		List<SagaContender> withCalls = all.stream()
			.filter((contender) -> !Set.of("status", "journal").contains(contender.name()))
			.toList();
		List<SagaContender> both = List.of(full, own);
		List<Scenario> scenarios = new ArrayList<>();
		for (String name : settings.names("scenarios", "transactions,calls,full-transactions,full-calls,take-over")) {
			scenarios.add(switch (name) {
				case "transactions" -> scenario(name, all, SagaContender::transactions);
				case "calls" -> scenario(name, withCalls, SagaContender::calls);
				case "full-transactions" -> scenario(name, both, SagaContender::transactions);
				case "full-calls" -> scenario(name, both, SagaContender::calls);
				case "wait" -> new WaitScenario(waiting(servers),
						Duration.ofMillis(settings.number("idle-millis", 5000)), settings.number("signals", 100));
				case "take-over" -> new TakeOverScenario(List.of(own, full));
				default -> throw new IllegalArgumentException("Unknown scenario " + name);
			});
		}
		return scenarios;
	}

	private List<WaitContender> waiting(Store.Servers servers) {
		List<WaitContender> waiting = new ArrayList<>();
		for (String count : settings.names("waiting", "0,10000,100000")) {
			waiting.add(opened(new WaitingSagas("waiting_" + count, servers, Integer.parseInt(count))));
		}
		for (String count : settings.names("dbos-waiting", "0,50")) {
			waiting.add(opened(new DbosWaits("dbos_waiting_" + count, servers, Integer.parseInt(count))));
		}
		return waiting;
	}

	private Scenario scenario(String name, List<SagaContender> contenders, Consumer<SagaContender> work) {
		return new SagaScenario(name, contenders, work, this.load, this.time);
	}

	private <T extends Contender> T opened(T contender) {
		this.opened.add(contender);
		return contender;
	}

}
