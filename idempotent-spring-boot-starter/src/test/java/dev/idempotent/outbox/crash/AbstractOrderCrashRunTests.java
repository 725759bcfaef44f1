package dev.idempotent.outbox.crash;

import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import javax.sql.DataSource;

import dev.idempotent.jdbc.Database;
import dev.idempotent.outbox.crash.EventBroker.PublishedEvent;
import dev.idempotent.outbox.crash.OrderAudit.Recorded;
import dev.idempotent.testing.RealRedis;
import dev.idempotent.testing.StallingProxy;
import dev.idempotent.testing.Tally;
import org.awaitility.core.ConditionTimeoutException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.boot.convert.DurationStyle;
import org.springframework.core.io.ClassPathResource;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.init.ResourceDatabasePopulator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * A crash run on one database. Explained in {@code docs/crash-tests.md}.
 */
abstract class AbstractOrderCrashRunTests {

	@RegisterExtension
	static final RealRedis redis = RealRedis.persistent();

	@RegisterExtension
	static final StallingProxy redisNetwork = StallingProxy.before(redis);

	private static final Duration PATIENCE = Duration.ofMinutes(5);

	/**
	 * A planted fault can keep events from being delivered at all.
	 */
	private static final Duration LITTLE_PATIENCE = Duration.ofSeconds(20);

	private static final List<String> TABLES = List.of("outbox_event", "outbox_delayed", "outbox_dead");

	private final CrashSettings settings = CrashSettings.read(run());

	private final Tally tally = new Tally();

	private final CountDownLatch over = new CountDownLatch(1);

	/**
	 * The database's script in the outbox's package.
	 */
	abstract String platform();

	/**
	 * A pool past the proxy.
	 */
	abstract DataSource connect();

	abstract StallingProxy databaseNetwork();

	/**
	 * What tells an instance where the proxy is, as {@code name=value}.
	 */
	abstract List<String> databaseProperties();

	abstract void killDatabase();

	abstract void startDatabase();

	/**
	 * The first part of the names of its properties and its folder.
	 */
	String run() {
		return "order";
	}

	/**
	 * The configuration of the instances.
	 */
	Class<?> application() {
		return OrderApplication.class;
	}

	/**
	 * Where the events are appended to.
	 */
	String topic(EventBroker broker) {
		return broker.topic();
	}

	/**
	 * Further tables of the application.
	 */
	void createTables(JdbcClient database) {
	}

	/**
	 * Finds what a broker does not show.
	 * @param published all events of the broker
	 * @return by kind
	 */
	Map<String, List<String>> violations(JdbcClient database, Map<String, Recorded> recorded,
			List<PublishedEvent> published) {
		return Map.of();
	}

	@Test
	void keepsItsPromises() throws InterruptedException {
		try (EventBroker broker = this.settings.kafka() ? new KafkaBroker() : new RedisBroker(redis, redisNetwork)) {
			OrderCrashReport report = run(createTables(), broker);
			System.out.println(report);
			String planted = this.settings.fault().violation();
			if (planted != null) {
				assertThat(report.violations().keySet()).as(report::toString)
					.anyMatch((kind) -> kind.contains(planted));
			}
			else {
				assertThat(report.violations().keySet()).as(report::toString).isEmpty();
			}
		}
	}

	private OrderCrashReport run(JdbcClient database, EventBroker broker) throws InterruptedException {
		List<String> properties = new ArrayList<>(databaseProperties());
		properties.addAll(broker.properties());
		properties.add("crash.topic=" + topic(broker));
		properties.add("idempotent.outbox.relay.lease=" + broker.lease());
		Path folder = Path.of("target", run() + "-crash");
		try (OrderSite site = new OrderSite(application(), folder, this.settings, properties, this.tally)) {
			site.awaitReady();
			storm(site, broker);
			site.calm();
			Duration quiet = awaitDelivery(database);
			Map<String, Recorded> recorded = recorded(database);
			List<PublishedEvent> published = broker.read();
			OrderCrashReport report = OrderCrashReport.of(this.settings, this.tally, recorded, published,
					left(database), quiet);
			report.violations().putAll(violations(database, recorded, published));
			return report;
		}
	}

	private JdbcClient createTables() {
		DataSource connections = connect();
		new ResourceDatabasePopulator(new ClassPathResource(Database.script(platform(), "outbox")))
			.execute(connections);
		JdbcClient database = JdbcClient.create(connections);
		database.sql("create table crash_counter (id varchar(20) primary key, number integer not null)").update();
		database
			.sql("create table crash_event (id varchar(40) primary key, event_key varchar(20) not null, "
					+ "number integer not null)")
			.update();
		if (this.settings.fault() == PlantedFault.CACHED_SEQUENCE) {
			database.sql("create sequence crash_ids cache 32").update();
		}
		IntStream.range(0, Writers.KEYS)
			.forEach((key) -> database.sql("insert into crash_counter values (?, 0)").param("key-" + key).update());
		createTables(database);
		return database;
	}

	private void storm(OrderSite site, EventBroker broker) throws InterruptedException {
		long seed = this.settings.seed();
		List<Thread> faults = start(() -> faults(seed).strike(site.instances(), broker.lease()),
				() -> faults(seed + 1).strike("broker", broker::kill, broker::start, broker.faults(), broker::resume),
				() -> faults(seed + 2).strike("database", this::killDatabase, this::startDatabase,
						Faults.of(databaseNetwork()), databaseNetwork()::resume));
		boolean unused = this.over.await(this.settings.duration().toMillis(), TimeUnit.MILLISECONDS);
		this.over.countDown();
		for (Thread fault : faults) {
			fault.join();
		}
	}

	private Faults faults(long seed) {
		return new Faults(seed, this.over, this.tally);
	}

	private static List<Thread> start(Runnable... tasks) {
		return List.of(tasks).stream().map((task) -> {
			Thread thread = new Thread(task, "crash-run");
			thread.setDaemon(true);
			thread.start();
			return thread;
		}).toList();
	}

	/**
	 * Waits until the tables are empty. The report has what is left.
	 */
	private Duration awaitDelivery(JdbcClient database) {
		long start = System.nanoTime();
		try {
			await().atMost((this.settings.fault().violation() != null) ? LITTLE_PATIENCE : PATIENCE)
				.until(() -> left(database).isEmpty());
		}
		catch (ConditionTimeoutException ex) {
			// Reported as a violation.
		}
		return Duration.ofNanos(System.nanoTime() - start);
	}

	private static Map<String, Integer> left(JdbcClient database) {
		return TABLES.stream()
			.collect(Collectors.toMap((table) -> table,
					(table) -> database.sql("select count(*) from " + table).query(Integer.class).single()))
			.entrySet()
			.stream()
			.filter((count) -> count.getValue() > 0)
			.collect(Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue));
	}

	private static Map<String, Recorded> recorded(JdbcClient database) {
		return database.sql("select id, event_key, number from crash_event")
			.query((row, number) -> Map.entry(row.getString(1), new Recorded(row.getString(2), row.getInt(3))))
			.list()
			.stream()
			.collect(Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue));
	}

	/**
	 * The result of a crash run.
	 *
	 * @param recorded the committed events
	 * @param published how often the broker got an event
	 * @param delays the times from appends to the first occurrences, sorted
	 * @param standstill the longest time for which the broker got no next event of a key
	 * although there was one
	 * @param quiet how long after the faults the tables were empty
	 * @param violations by kind
	 */
	record OrderCrashReport(CrashSettings settings, Tally tally, Map<String, Recorded> recorded, int published,
			List<Duration> delays, Duration standstill, Duration quiet, Map<String, List<String>> violations) {

		static OrderCrashReport of(CrashSettings settings, Tally tally, Map<String, Recorded> recorded,
				List<PublishedEvent> published, Map<String, Integer> left, Duration quiet) {
			Set<String> seen = new HashSet<>();
			List<Duration> delays = new ArrayList<>();
			Map<String, Instant> last = new HashMap<>();
			Duration standstill = Duration.ZERO;
			for (PublishedEvent event : published) {
				if (seen.add(event.id())) {
					delays.add(Duration.between(event.appended(), event.published()));
					if (event.number() > 0) {
						Instant before = last.getOrDefault(event.key(), Instant.EPOCH);
						Instant since = before.isAfter(event.appended()) ? before : event.appended();
						Duration waited = Duration.between(since, event.published());
						standstill = (waited.compareTo(standstill) > 0) ? waited : standstill;
						last.put(event.key(), event.published());
					}
				}
			}
			Map<String, List<String>> violations = new TreeMap<>(OrderAudit.violations(recorded, published));
			left.forEach((table, rows) -> violations.put("left in " + table, List.of(rows + " rows")));
			return new OrderCrashReport(settings, tally, recorded, published.size(), delays.stream().sorted().toList(),
					standstill, quiet, violations);
		}

		private long delay(double quantile) {
			return this.delays.isEmpty() ? 0 : this.delays.get((int) (quantile * (this.delays.size() - 1))).toMillis();
		}

		@Override
		public String toString() {
			Stream<Recorded> events = this.recorded.values().stream();
			long ordered = events.filter((event) -> event.number() > 0).count();
			return """
					Crash run, %s
					  events        %d ordered, %d unordered, %d repeated
					  delivery      half of them within %d ms, 99 %% within %d ms, all within %d ms
					  standstill    of a key at most %d ms
					  deaths        kill %d · halt at %s · end %s
					  faults        %s
					  transactions  %s
					  quiet         tables empty %d ms after everything was up
					  violations    %s""".formatted(this.settings, ordered, this.recorded.size() - ordered,
					this.published - this.delays.size(), delay(0.5), delay(0.99), delay(1), this.standstill.toMillis(),
					this.tally.sum("kill"), this.tally.list("halt at "), this.tally.list("end "),
					this.tally.list("fault "), this.tally.list("transaction "), this.quiet.toMillis(),
					OrderAudit.describe(this.violations));
		}

	}

	/**
	 * The system properties of a crash run.
	 *
	 * @param duration how long events are appended while faults happen
	 * @param kafka whether the broker is Kafka, or Redis
	 * @param seed of the faults
	 * @param fault what the instances do wrong
	 */
	record CrashSettings(Duration duration, boolean kafka, long seed, PlantedFault fault) {

		/**
		 * Reads the settings of a run.
		 * @param run the first part of the names of its properties
		 */
		static CrashSettings read(String run) {
			String prefix = run + ".crash.";
			return new CrashSettings(DurationStyle.detectAndParse(System.getProperty(prefix + "duration", "15s")),
					System.getProperty(prefix + "broker", "redis").equals("kafka"),
					Long.getLong(prefix + "seed", ThreadLocalRandom.current().nextInt(1_000_000)),
					PlantedFault.valueOf(System.getProperty(prefix + "fault", PlantedFault.NONE.name())));
		}

	}

}
