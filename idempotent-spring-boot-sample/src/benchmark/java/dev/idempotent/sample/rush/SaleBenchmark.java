package dev.idempotent.sample.rush;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.DoubleSupplier;
import java.util.stream.Stream;

import com.sun.management.OperatingSystemMXBean;
import dev.idempotent.benchmark.Database;
import dev.idempotent.benchmark.Machine;
import dev.idempotent.benchmark.Report;
import dev.idempotent.benchmark.Rounds;
import dev.idempotent.benchmark.Scenario;
import dev.idempotent.benchmark.Settings;
import dev.idempotent.benchmark.http.ServerProcess;
import dev.idempotent.sample.rush.Answer.Kind;
import dev.idempotent.sample.rush.RushPlan.Behaviour;
import dev.idempotent.sample.rush.RushTally.Figures;
import dev.idempotent.testing.RealPostgres;
import dev.idempotent.testing.RealRedis;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.test.util.TestSocketUtils;
import org.springframework.util.Assert;
import tools.jackson.databind.json.JsonMapper;

/**
 * Compares the flash sale with the naive one, whose buyers all update one row. The users
 * are in this JVM, the packaged shop is in another one. docs/benchmark.md says how to
 * repeat it.
 */
class SaleBenchmark {

	private static final Settings settings = new Settings();

	private static final OperatingSystemMXBean own = ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);

	private static final Path FOLDER = Path.of("target", "benchmark").toAbsolutePath();

	@RegisterExtension
	static final RealPostgres postgres = RealPostgres.dedicatedWith("fsync=" + settings.text("fsync", "on"),
			"commit_delay=" + settings.number("commit-micros", 0), "commit_siblings=0");

	@RegisterExtension
	static final RealRedis redis = RealRedis.dedicated();

	private final int users = settings.number("users", 3000);

	private final URI uri = URI.create("http://127.0.0.1:" + TestSocketUtils.findAvailableTcpPort());

	private final ShopHttp http = new ShopHttp(List.of(this.uri));

	private Database database;

	private Process shop;

	@Test
	void measures() throws IOException {
		Report report = new Report();
		Machine machine = Machine.with(postgres, redis);
		this.database = Database.create(postgres, "shop");
		this.shop = start();
		try (this.http) {
			Awaitility.await()
				.atMost(Duration.ofMinutes(2))
				.until(() -> this.http.get("/actuator/health").join().status() == 200);
			// Beside the last units, the gate may refuse a buyer although one is free.
			List<String> chosen = settings.names("scenarios", "reserve,buy,refuse");
			List<Scenario> scenarios = Stream
				.<Scenario>of(new Sales("reserve", Behaviour.RESERVE, 2 * this.users),
						new Sales("buy", Behaviour.BUY, 2 * this.users), new Sales("refuse", Behaviour.RESERVE, 1))
				.filter((scenario) -> chosen.contains(scenario.name()))
				.toList();
			new Rounds(settings.number("warm-up", 3), settings.number("rounds", 5)).run(scenarios, report, machine);
		}
		finally {
			this.shop.destroy();
			this.shop.onExit().join();
		}
		report.publish("sale", Database.describe(postgres), settings);
	}

	private Process start() throws IOException {
		Files.createDirectories(FOLDER);
		List<String> command = new ArrayList<>(
				List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-Xmx512m",
						// Lets the compilers see enough of a shop that answers a thousand
						// requests a second.
						"-XX:CompileThresholdScaling=0.1"));
		if (settings.text("profile", "none").equals("jfr")) {
			command.add("-XX:StartFlightRecording=settings=profile,filename=" + FOLDER.resolve("sale.jfr"));
		}
		command.addAll(List.of("-jar", Objects.requireNonNull(System.getProperty("crash.jar")),
				"--server.port=" + this.uri.getPort(), "--server.tomcat.max-keep-alive-requests=-1",
				"--idempotent.redis.timeout=60s", "--spring.data.redis.timeout=60s",
				// A unit that expires, or a request that is shed, would be work of a
				// later
				// measurement.
				"--sample.sale.hold=1h", "--sample.sale.requests-per-second=1000000", "--sample.sale.burst=1000000"));
		redis.properties().forEach((property) -> command.add("--" + property));
		this.database.properties().forEach((property) -> command.add("--" + property));
		Process started = new ProcessBuilder(command).redirectErrorStream(true)
			.redirectOutput(FOLDER.resolve("sale.log").toFile())
			.start();
		Runtime.getRuntime().addShutdownHook(new Thread(started::destroy));
		return started;
	}

	/**
	 * Waits until the compilers rest and all events are handled, so that no measurement
	 * pays for an earlier one.
	 */
	private void awaitRest() {
		DoubleSupplier micros = clock(this.shop.pid());
		double[] before = { Double.MAX_VALUE };
		Awaitility.await().atMost(Duration.ofMinutes(2)).pollInterval(Duration.ofMillis(500)).until(() -> {
			double now = micros.getAsDouble();
			double used = now - before[0];
			before[0] = now;
			return Double.isNaN(now) || (used >= 0 && used < 50_000);
		});
	}

	/**
	 * Removes what a measurement has left.
	 */
	private void tidy() {
		this.database.sql()
			.execute("truncate flash_sale, stock_shelf, stock_owner, reservation, naive_stock, orders, "
					+ "payments, parcel, handler_attempt, notification, delivery");
		this.database.tidy();
	}

	/**
	 * How long the compilers of the shop have worked.
	 */
	private double compilerMillis() {
		Answer answer = this.http.get("/actuator/metrics/jvm.compilation.time").join();
		return JsonMapper.shared().readTree(answer.body()).at("/measurements/0/value").asDouble();
	}

	private static DoubleSupplier clock(long process) {
		return new ServerProcess(ProcessHandle.of(process))::micros;
	}

	/**
	 * The sale and the naive sale to users who all do the same.
	 */
	private final class Sales implements Scenario {

		private final String name;

		private final Behaviour behaviour;

		private final int stock;

		private final Map<String, DoubleSupplier> micros = new LinkedHashMap<>();

		Sales(String name, Behaviour behaviour, int stock) {
			this.name = name;
			this.behaviour = behaviour;
			this.stock = stock;
			this.micros.put("users", () -> own.getProcessCpuTime() / 1000.0);
			this.micros.put("application", clock(SaleBenchmark.this.shop.pid()));
			this.micros.put("Redis", clock(Machine.redisId(redis)));
			this.micros.put("PostgreSQL", clock(Machine.postgresId(postgres)));
		}

		@Override
		public String name() {
			return this.name;
		}

		@Override
		public void round(int number, Report report) {
			Map<String, Figures> figures = new LinkedHashMap<>();
			Rounds.inTurn(List.of("sale", "naive"), number)
				.forEach((contender) -> figures.put(contender, measure(contender, report)));
			Figures sale = Objects.requireNonNull(figures.get("sale"));
			Figures naive = Objects.requireNonNull(figures.get("naive"));
			report.ratio("sale-" + this.name, (double) sale.perSecond() / naive.perSecond());
			if (this.behaviour == Behaviour.RESERVE) {
				report.ratio("sale-" + this.name + "-p99", p99(sale) / p99(naive));
			}
		}

		private Figures measure(String contender, Report report) {
			boolean naive = contender.equals("naive");
			awaitRest();
			tidy();
			double compiled = compilerMillis();
			double[] before = micros();
			Figures figures;
			try (Rush rush = rush(naive)) {
				rush.open();
				rush.run();
				figures = rush.figures();
			}
			// The events of its orders are work of this measurement.
			awaitRest();
			double[] after = micros();
			Assert.state(
					figures.answers().getOrDefault(Kind.RESERVED, 0L) == Math.min(this.stock, SaleBenchmark.this.users),
					() -> "Not the units that were there: " + figures.answers());
			report.add(this.name, contender, "users/s", figures.perSecond());
			report.add(this.name, contender, "p50 ms", percentiles(figures).p50());
			report.add(this.name, contender, "p99 ms", p99(figures));
			report.add(this.name, contender, "compilers ms", compilerMillis() - compiled);
			int process = 0;
			for (String name : this.micros.keySet()) {
				report.add(this.name, contender, "CPU us, " + name,
						(after[process] - before[process]) / SaleBenchmark.this.users);
				process++;
			}
			return figures;
		}

		private double[] micros() {
			return this.micros.values().stream().mapToDouble(DoubleSupplier::getAsDouble).toArray();
		}

		private Rush rush(boolean naive) {
			RushPlan plan = new RushPlan(SaleBenchmark.this.users, this.stock, 1,
					naive ? Behaviour.RESERVE : this.behaviour, naive, false);
			// These users need no verdict.
			SaleAuditor auditor = new SaleAuditor(JdbcClient.create(SaleBenchmark.this.database.sql()),
					new DataSourceTransactionManager(), (item) -> Optional.empty());
			return new Rush(plan, new ShopHttp(List.of(SaleBenchmark.this.uri)), auditor);
		}

		private double p99(Figures figures) {
			return percentiles(figures).p99();
		}

		private RushTally.Percentiles percentiles(Figures figures) {
			return (this.stock > 1) ? figures.acceptedMillis() : figures.refusedMillis();
		}

	}

}
