package dev.idempotent.outbox.engine;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

import dev.idempotent.outbox.OutboxPublisher;
import dev.idempotent.outbox.Outcome;
import dev.idempotent.outbox.SerializedEvent;
import dev.idempotent.outbox.engine.EventTable.Chunk;
import dev.idempotent.outbox.engine.EventTable.Claim;
import dev.idempotent.outbox.engine.EventTable.Dialect;
import dev.idempotent.outbox.engine.EventTable.Head;
import dev.idempotent.outbox.engine.EventTable.Look;
import dev.idempotent.outbox.engine.EventTable.NewRow;
import dev.idempotent.outbox.engine.OutboxEngine.Settings;
import dev.idempotent.testing.RealPostgres;
import dev.idempotent.testing.RealRedis;
import io.lettuce.core.Limit;
import io.lettuce.core.Range;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.XReadArgs;
import io.lettuce.core.api.sync.RedisCommands;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.jdbc.core.JdbcTemplate;

/**
 * What the engine costs, and the states that make the outbox's present one slow. Prints
 * its figures; {@code docs/adr/0023-the-row-is-the-lease.md} has those of one run.
 */
class EngineBenchmark {

	private static final int RATE = 200;

	@RegisterExtension
	static final RealPostgres postgres = RealPostgres.dedicatedWith("fsync=on", "shared_buffers=512MB",
			"track_counts=on", "max_wal_size=4GB");

	@RegisterExtension
	static final RealRedis redis = RealRedis.dedicated();

	private final JdbcTemplate jdbc = new JdbcTemplate();

	private final EventTable table = new EventTable(Dialect.POSTGRESQL);

	@BeforeEach
	void createTable() {
		this.jdbc.setDataSource(postgres.connect());
		this.jdbc.execute("drop table if exists outbox_event");
		this.jdbc.execute(Dialect.POSTGRESQL.schema());
		this.jdbc.execute("analyze outbox_event");
		redis.flush();
	}

	@Test
	void latencyAt200PerSecond() throws Exception {
		int events = Integer.getInteger("engine.events", 2_000);
		latency(false, events / 5);
		latency(true, events / 5);
		report("floor ", latency(false, events));
		this.jdbc.execute("select pg_stat_reset()");
		report("engine", latency(true, events));
		Thread.sleep(1_500);
		reportWrites("latency");
	}

	@SuppressWarnings("unchecked")
	private long[] latency(boolean engine, int events) throws Exception {
		RedisClient client = RedisClient.create(RedisURI.create(redis.host(), redis.port()));
		RedisRuns publisher = new RedisRuns(redis.host(), redis.port(), Duration.ofSeconds(1));
		Map<String, Long> committed = new HashMap<>();
		Map<String, Long> consumed = new ConcurrentHashMap<>();
		RedisCommands<String, String> reader = client.connect().sync();
		var newest = reader.xrevrange(RedisRuns.STREAM, Range.unbounded(), Limit.from(1));
		String start = newest.isEmpty() ? "0" : newest.get(0).getId();
		Thread consumer = new Thread(() -> {
			String last = start;
			while (consumed.size() < events) {
				for (var entry : reader.xread(XReadArgs.Builder.block(200),
						XReadArgs.StreamOffset.from(RedisRuns.STREAM, last))) {
					last = entry.getId();
					consumed.put(entry.getBody().get("e"), System.nanoTime());
				}
			}
		});
		consumer.start();
		OutboxEngine tested = engine(publisher, settings(100));
		if (engine) {
			tested.start();
		}
		try (Connection connection = connect()) {
			connection.setAutoCommit(false);
			long next = System.nanoTime();
			for (int i = 0; i < events; i++) {
				LockSupport.parkNanos(next - System.nanoTime());
				next += 1_000_000_000L / RATE;
				UUID id = UUID.randomUUID();
				NewRow row = NewRow.of(RedisRuns.TOPIC, "key-" + i % 500, id, id.toString());
				List<Long> ids = this.table.append(connection, List.of(row));
				connection.commit();
				committed.put(id.toString(), System.nanoTime());
				if (engine) {
					tested.wake(row.lane(), ids.get(0));
				}
				else {
					publisher.publish(List.of(row.event().withRow(1, 1)));
				}
			}
		}
		consumer.join();
		tested.close();
		if (!engine) {
			this.jdbc.execute("truncate outbox_event");
		}
		publisher.close();
		client.shutdown();
		return committed.entrySet()
			.stream()
			.mapToLong((entry) -> consumed.getOrDefault(entry.getKey(), Long.MAX_VALUE) - entry.getValue())
			.sorted()
			.toArray();
	}

	@Test
	void drain() throws Exception {
		for (int round = 0; round < 2; round++) {
			drain("100,000 of 10,000 keys, runs of 100", 100_000, 10_000, 100);
			drain("100,000 of 100,000 keys", 100_000, 100_000, 100);
			drain("hot key, runs of 100", 50_000, 1, 100);
			drain("hot key, one event a round", 2_000, 1, 1);
		}
	}

	private void drain(String name, int events, int keys, int run) throws Exception {
		this.jdbc.execute("truncate outbox_event");
		insert(RedisRuns.TOPIC, events, keys, "null");
		this.jdbc.execute("select pg_stat_reset()");
		try (RedisRuns publisher = new RedisRuns(redis.host(), redis.port(), Duration.ofSeconds(5));
				OutboxEngine engine = engine(publisher, settings(run))) {
			long begin = System.nanoTime();
			engine.start();
			awaitEmpty("true");
			double seconds = (System.nanoTime() - begin) / 1e9;
			print("drain of %s: %.0f per s", name, events / seconds);
		}
		Thread.sleep(1_200);
		reportWrites(name);
	}

	@Test
	void deadInstanceBesideWaitingEvents() throws Exception {
		int waiting = Integer.getInteger("engine.waiting", 1_000_000);
		insert("memory:waiting", waiting, waiting / 10, "clock_timestamp() + interval '1 day'");
		insert("memory:other", 200, 200, "clock_timestamp() + interval '5 seconds'");
		this.jdbc.execute("vacuum analyze outbox_event");
		Recorder recorder = new Recorder();
		try (OutboxEngine engine = engine(recorder, settings(100))) {
			engine.start();
			long leaseEnd = System.nanoTime() + 5_000_000_000L;
			awaitEmpty("topic = 'memory:other'");
			print("200 leased rows of a dead instance beside %d waiting: all delivered %.1f s after the lease, "
					+ "%d passes", waiting, (System.nanoTime() - leaseEnd) / 1e9, engine.passes.sum());
		}
		scanOnce("of " + waiting + " waiting");
	}

	@Test
	void pausedTopic() throws Exception {
		insert("memory:paused", 500_000, 0, "null");
		insert("memory:other", 50, 50, "clock_timestamp() + interval '3 seconds'");
		this.jdbc.execute("vacuum analyze outbox_event");
		Recorder recorder = new Recorder();
		try (OutboxEngine engine = engine(recorder, settings(100))) {
			engine.pause("memory:paused");
			engine.start();
			long due = System.nanoTime() + 3_000_000_000L;
			awaitEmpty("topic = 'memory:other'");
			print("due events beside 500,000 of a paused topic: delivered %.2f s late",
					(System.nanoTime() - due) / 1e9);
			this.jdbc.execute("select pg_stat_reset()");
			long passes = engine.passes.sum();
			Thread.sleep(10_000);
			print("paused: %d passes in 10 s read %s rows", engine.passes.sum() - passes, this.jdbc.queryForList(
					"select idx_tup_fetch from pg_stat_user_tables where relname = 'outbox_event'", Long.class));
			long begin = System.nanoTime();
			engine.resume("memory:paused");
			awaitEmpty("true");
			print("resumed: %.0f per s", 500_000 / ((System.nanoTime() - begin) / 1e9));
		}
	}

	@Test
	void heldSnapshot() throws Exception {
		Recorder recorder = new Recorder();
		try (Connection holder = connect(); OutboxEngine engine = engine(recorder, settings(100))) {
			insert("memory:hot", 100_000, 1, "null");
			holder.setAutoCommit(false);
			holder.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
			try (Statement statement = holder.createStatement()) {
				statement.execute("select count(*) from outbox_event");
			}
			engine.start();
			long begin = System.nanoTime();
			awaitEmpty("true");
			print("hot key of 100,000 under a held snapshot: %.0f per s",
					100_000 / ((System.nanoTime() - begin) / 1e9));
			try (Connection connection = connect()) {
				for (boolean hint : new boolean[] { true, false }) {
					long[] times = new long[30];
					for (int i = 0; i < times.length; i++) {
						NewRow row = NewRow.of("memory:hot", "key-0", UUID.randomUUID(), "x");
						recorder.expected = recorder.count.get() + 1;
						long id = this.table.append(connection, List.of(row)).get(0);
						long committed = System.nanoTime();
						engine.wake(row.lane(), hint ? id : 0);
						while (recorder.count.get() < recorder.expected) {
							LockSupport.parkNanos(50_000);
						}
						times[i] = System.nanoTime() - committed;
						Thread.sleep(20);
					}
					Arrays.sort(times);
					report(hint ? "held snapshot, search behind the last" : "held snapshot, search from the first",
							times);
				}
			}
			scanOnce("of 100,000 dead rows");
		}
	}

	@Test
	void stepsOfOneEvent() throws Exception {
		long[][] times = new long[4][1_000];
		try (Connection appender = connect();
				Connection connection = connect();
				RedisRuns publisher = new RedisRuns(redis.host(), redis.port(), Duration.ofSeconds(1))) {
			this.table.prepare(connection);
			for (int i = 0; i < 2_000; i++) {
				NewRow row = NewRow.of(RedisRuns.TOPIC, "key-" + i, UUID.randomUUID(), "x");
				this.table.append(appender, List.of(row));
				long begin = System.nanoTime();
				List<Head> heads = this.table.heads(connection, List.of(new Look(row.lane(), 0)), 1);
				long read = System.nanoTime();
				var claims = this.table.claim(connection, heads, Duration.ofSeconds(10));
				long claimed = System.nanoTime();
				publisher.publish(claims.stream().map(Claim::event).toList());
				long published = System.nanoTime();
				this.table.delete(connection, claims);
				long deleted = System.nanoTime();
				times[0][i % 1_000] = read - begin;
				times[1][i % 1_000] = claimed - read;
				times[2][i % 1_000] = published - claimed;
				times[3][i % 1_000] = deleted - published;
			}
		}
		for (int step = 0; step < 4; step++) {
			Arrays.sort(times[step]);
			report(List.of("read", "claim", "publish", "delete").get(step), times[step]);
		}
	}

	@Test
	void plansOfTheEmptyTable() throws Exception {
		for (boolean prepared : new boolean[] { true, false }) {
			createTable();
			try (Connection connection = connect()) {
				if (prepared) {
					this.table.prepare(connection);
				}
				for (int i = 0; i < 10; i++) {
					round(connection, lanes(500), false);
				}
				insert(RedisRuns.TOPIC, 20_000, 20_000, "null");
				round(connection, lanes(500), true);
				round(connection, lanes(500), true);
				print("(seqscan %s)", prepared ? "off" : "on");
			}
		}
	}

	private List<Look> lanes(int count) {
		return new ArrayList<>(ThreadLocalRandom.current()
			.ints(count, 0, 20_000)
			.mapToObj((key) -> new Look(Lanes.of(RedisRuns.TOPIC, "key-" + key), 0))
			.sorted((one, other) -> Long.compare(one.lane(), other.lane()))
			.toList());
	}

	private void round(Connection connection, List<Look> lanes, boolean print) throws SQLException {
		long begin = System.nanoTime();
		List<Head> heads = this.table.heads(connection, lanes, 1);
		long read = System.nanoTime();
		var claims = this.table.claim(connection, heads, Duration.ofSeconds(10));
		long claimed = System.nanoTime();
		this.table.delete(connection, claims);
		long deleted = System.nanoTime();
		if (print) {
			print("plan of the empty table, 500 lanes of 20,000: read %.1f ms, claim %.1f ms, delete %.1f ms",
					(read - begin) / 1e6, (claimed - read) / 1e6, (deleted - claimed) / 1e6);
		}
	}

	private void scanOnce(String what) throws SQLException {
		try (Connection connection = connect()) {
			this.table.prepare(connection);
			long begin = System.nanoTime();
			int chunks = 0;
			Chunk chunk = this.table.scan(connection, Long.MIN_VALUE, 5_000);
			while (!chunk.end() && chunk.last() != null) {
				chunk = this.table.scan(connection, chunk.last().lane(), 5_000);
				chunks++;
			}
			print("a pass %s: %.2f s in %d parts", what, (System.nanoTime() - begin) / 1e9, chunks + 1);
		}
	}

	/**
	 * Inserts rows.
	 * @param keys how many keys, or 0 for events without an order
	 */
	private void insert(String topic, int events, int keys, String dueAt) {
		try (Connection connection = connect(); Statement statement = connection.createStatement()) {
			statement.execute("create temp table lanes (number integer, lane bigint)");
			int lanes = (keys > 0) ? keys : events;
			try (var batch = connection.prepareStatement("insert into lanes values (?, ?)")) {
				connection.setAutoCommit(false);
				for (int i = 0; i < lanes; i++) {
					batch.setInt(1, i);
					batch.setLong(2, Lanes.of(topic, (keys > 0) ? "key-" + i : null));
					batch.addBatch();
					if (i % 1_000 == 999) {
						batch.executeBatch();
					}
				}
				batch.executeBatch();
			}
			statement.execute("""
					insert into outbox_event (lane, event_id, topic, event_key, type, payload, due_at)
					select l.lane, gen_random_uuid(), '%s', %s, 'test', convert_to(repeat('x', 200) || i, 'UTF8'), %s
					from generate_series(0, %d) i join lanes l on l.number = i %% %d order by i""".formatted(topic,
					(keys > 0) ? "'key-' || l.number" : "null", dueAt, events - 1, lanes));
			connection.commit();
		}
		catch (SQLException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private void awaitEmpty(String condition) throws InterruptedException {
		while (!this.jdbc.queryForList("select 1 from outbox_event where " + condition + " limit 1").isEmpty()) {
			Thread.sleep(20);
		}
	}

	private void reportWrites(String what) {
		print("row writes, %s: %s", what, new TreeMap<>(this.jdbc.queryForMap("""
				select n_tup_ins inserted, n_tup_upd updated, n_tup_hot_upd hot, n_tup_del deleted
				from pg_stat_user_tables where relname = 'outbox_event'""")));
	}

	private static void report(String name, long[] sorted) {
		print("%s: p50 %.2f ms, p99 %.2f ms", name, sorted[sorted.length / 2] / 1e6,
				sorted[sorted.length * 99 / 100] / 1e6);
	}

	private static void print(String format, Object... values) {
		System.out.println("MEASURE " + String.format(Locale.ROOT, format, values));
	}

	private static Settings settings(int run) {
		return new Settings(2, 500, run, Duration.ofSeconds(10), Duration.ofSeconds(1), 10, Duration.ofSeconds(1));
	}

	private OutboxEngine engine(OutboxPublisher publisher, Settings settings) {
		return new OutboxEngine(this.table, EngineBenchmark::connect, publisher, settings);
	}

	private static Connection connect() throws SQLException {
		return java.sql.DriverManager.getConnection(postgres.url(), RealPostgres.USER, RealPostgres.PASSWORD);
	}

	/**
	 * Counts events.
	 */
	private static final class Recorder implements OutboxPublisher {

		private final AtomicInteger count = new AtomicInteger();

		private int expected;

		@Override
		public String prefix() {
			return "memory";
		}

		@Override
		public List<Outcome> publish(List<SerializedEvent> events) {
			this.count.addAndGet(events.size());
			return events.stream().<Outcome>map((event) -> new Outcome.Delivered()).toList();
		}

	}

}
