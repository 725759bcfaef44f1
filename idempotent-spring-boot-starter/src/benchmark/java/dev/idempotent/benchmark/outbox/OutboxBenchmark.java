package dev.idempotent.benchmark.outbox;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

import dev.idempotent.benchmark.Contender;
import dev.idempotent.benchmark.Database;
import dev.idempotent.benchmark.Load;
import dev.idempotent.benchmark.Machine;
import dev.idempotent.benchmark.MariaDb;
import dev.idempotent.benchmark.Report;
import dev.idempotent.benchmark.Rounds;
import dev.idempotent.benchmark.Scenario;
import dev.idempotent.benchmark.Settings;
import dev.idempotent.testing.RealPostgres;
import dev.idempotent.testing.RealRedis;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.util.Assert;

/**
 * Measures the outbox and prints a table; docs/benchmark.md says how to repeat it and
 * what the rows mean.
 */
class OutboxBenchmark {

	private static final Settings settings = new Settings();

	private static final String ORDERED = "ours-ordered";

	private static final int KEYS = 10_000;

	@RegisterExtension
	static final RealPostgres postgres = RealPostgres.dedicatedWith("fsync=" + settings.text("fsync", "on"));

	@RegisterExtension
	static final RealRedis redis = RealRedis.dedicated();

	/**
	 * Another database than PostgreSQL, if it is to be measured.
	 */
	@RegisterExtension
	static final BeforeAllCallback mariadb = settings.text("database", "postgresql").equals("mariadb") ? new MariaDb()
			: (context) -> {
			};

	private final Load load = new Load(settings.number("clients", 4));

	@Test
	void measures() throws IOException {
		List<Contender> opened = new ArrayList<>();
		try {
			Report report = new Report();
			Rounds rounds = new Rounds(settings.number("warm-up", 1), settings.number("rounds", 2));
			rounds.run(scenarios(opened), report, Machine.with(postgres, redis));
			report.publish("outbox",
					(mariadb instanceof MariaDb server) ? Database.describe(server) : Database.describe(postgres),
					settings);
		}
		finally {
			opened.forEach(Contender::close);
		}
	}

	private List<Scenario> scenarios(List<Contender> opened) {
		Servers servers = new Servers(OutboxBenchmark::database, redis, settings.number("pool-size", 16));
		BareShop bare = opened(new BareShop(servers), opened);
		List<OutboxContender> contenders = contenders(servers, opened);
		int backlog = settings.number("backlog", 10_000);
		Map<String, Supplier<Scenario>> known = new HashMap<>();
		known.put("append", () -> new AppendScenario(bare, contenders, this.load, seconds("seconds", 2)));
		known.put("drain", () -> new DrainScenario(new BatchedInserts(bare.pool()), contenders, this.load, backlog));
		known.put("latency", () -> latency("latency", withFloor(contenders, servers, opened), latencyRates()));
		known.put("cost", () -> new CostScenario(contenders, this.load, 2_000));
		known.put("sustained", () -> new SustainedScenario(contenders, this.load,
				settings.number("sustained-rate", 10_000), seconds("sustained-seconds", 2)));
		known.put("ordered", () -> ordered(contenders, backlog, servers, opened));
		known.put("instances", () -> latency("instances", List.of(own("ours-2", KEYS, 2, servers, opened)),
				latencyRates().subList(0, 1)));
		known.put("hot-key", () -> new HotKeyScenario(own("ours-3", 1, 3, servers, opened), this.load,
				seconds("seconds", 2), 2_000, backlog));
		known.put("kafka", () -> new KafkaDrainScenario(opened(new KafkaOutbox(servers), opened), this.load, backlog));
		known.put("recovery", () -> new RecoveryScenario(own("ours-recovery", 1, 1, servers, opened),
				settings.number("recovery-keys", 1_000_000)));
		return chosen("scenarios", "append,drain,latency,cost,sustained,ordered,instances,hot-key,kafka", known);
	}

	private static Database database(String name) {
		return (mariadb instanceof MariaDb server) ? Database.create(server, name) : Database.create(postgres, name);
	}

	private Scenario latency(String name, List<OutboxContender> contenders, List<Integer> rates) {
		return new LatencyScenario(name, contenders, this.load, rates, seconds("latency-seconds", 5));
	}

	private static List<Integer> latencyRates() {
		return settings.names("latency-rate", "200,2000").stream().map(Integer::valueOf).toList();
	}

	private static List<OutboxContender> withFloor(List<OutboxContender> contenders, Servers servers,
			List<Contender> opened) {
		List<OutboxContender> all = new ArrayList<>(contenders);
		all.add(opened(new DirectSender(servers), opened));
		return all;
	}

	private Scenario ordered(List<OutboxContender> contenders, int backlog, Servers servers, List<Contender> opened) {
		return new OrderedScenario(own(OwnOutbox.NAME, 0, contenders, servers, opened),
				own(ORDERED, KEYS, contenders, servers, opened), this.load, seconds("seconds", 2), backlog);
	}

	/**
	 * The contender of that name, which may have been chosen.
	 */
	private static OutboxContender own(String name, int keys, List<OutboxContender> contenders, Servers servers,
			List<Contender> opened) {
		return contenders.stream()
			.filter((contender) -> contender.name().equals(name))
			.findFirst()
			.orElseGet(() -> own(name, keys, 1, servers, opened));
	}

	private static OwnOutbox own(String name, int keys, int instances, Servers servers, List<Contender> opened) {
		return opened(new OwnOutbox(new OwnOutbox.Variant(name, keys, instances), servers), opened);
	}

	private List<OutboxContender> contenders(Servers servers, List<Contender> opened) {
		NamastackOutbox.Tuning tuning = NamastackOutbox.Tuning.of(settings);
		Map<String, Supplier<OutboxContender>> known = Map.of(ORDERED, () -> own(ORDERED, KEYS, 1, servers, opened),
				OwnOutbox.NAME, () -> own(OwnOutbox.NAME, 0, 1, servers, opened), ModulithOutbox.NAME,
				() -> opened(new ModulithOutbox(servers, settings.number("modulith.threads", 12)), opened), "namastack",
				() -> opened(new NamastackOutbox("namastack", 0, servers, tuning), opened), "namastack-keyed",
				() -> opened(new NamastackOutbox("namastack-keyed", 64, servers, tuning), opened));
		return chosen("contenders", OwnOutbox.NAME + ",namastack,modulith", known);
	}

	private <T> List<T> chosen(String setting, String all, Map<String, Supplier<T>> known) {
		List<T> chosen = new ArrayList<>();
		for (String name : settings.names(setting, all)) {
			Supplier<T> supplier = known.get(name);
			Assert.state(supplier != null, () -> "benchmark." + setting + " knows " + known.keySet() + ", not " + name);
			chosen.add(supplier.get());
		}
		return chosen;
	}

	private Duration seconds(String setting, int otherwise) {
		return Duration.ofSeconds(settings.number(setting, otherwise));
	}

	private static <T extends Contender> T opened(T contender, List<Contender> opened) {
		opened.add(contender);
		return contender;
	}

}
