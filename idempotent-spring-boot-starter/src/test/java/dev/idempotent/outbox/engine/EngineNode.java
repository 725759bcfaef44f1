package dev.idempotent.outbox.engine;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.IntStream;

import dev.idempotent.outbox.OutboxPublisher;
import dev.idempotent.outbox.Outcome;
import dev.idempotent.outbox.SerializedEvent;
import dev.idempotent.outbox.engine.EventTable.Dialect;
import dev.idempotent.outbox.engine.EventTable.NewRow;
import dev.idempotent.outbox.engine.OutboxEngine.Connector;
import dev.idempotent.outbox.engine.OutboxEngine.Settings;
import dev.idempotent.testing.RestartedApplication;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.ApplicationRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;

/**
 * An instance of the crash run: it appends events of some keys, each in a transaction
 * that locks the counter of its key, and delivers what all instances have appended.
 */
@Configuration(proxyBeanMethods = false)
class EngineNode {

	static final int KEYS = 41;

	static final Duration LEASE = Duration.ofSeconds(2);

	@Bean
	ApplicationRunner node(Environment environment) {
		return (arguments) -> new Node(environment).start();
	}

	private static final class Node {

		private final Dialect dialect;

		private final Connector connector;

		private final PlantedFault fault;

		private final boolean colliding;

		private final Path end;

		private final EventTable table;

		private final OutboxEngine engine;

		Node(Environment environment) {
			this.dialect = environment.getRequiredProperty("node.dialect", Dialect.class);
			this.fault = environment.getRequiredProperty("node.fault", PlantedFault.class);
			this.colliding = environment.getRequiredProperty("node.colliding", Boolean.class);
			this.end = Path.of(environment.getRequiredProperty("node.end"));
			String url = environment.getRequiredProperty("node.url");
			this.connector = () -> DriverManager.getConnection(url, environment.getRequiredProperty("node.user"),
					environment.getProperty("node.password", ""));
			this.table = this.fault.table(this.dialect);
			RedisRuns publisher = new RedisRuns(environment.getRequiredProperty("node.redis-host"),
					environment.getRequiredProperty("node.redis-port", Integer.class), Duration.ofMillis(900));
			this.engine = this.fault.engine(this.dialect, this.connector, new Disturbed(publisher, this.end),
					new Settings(2, 100, environment.getRequiredProperty("node.run", Integer.class), LEASE,
							Duration.ofMillis(500), Integer.MAX_VALUE, Duration.ofMillis(50)));
		}

		void start() {
			this.engine.start();
			new Thread(() -> {
				List<Thread> writers = IntStream.range(0, 2)
					.mapToObj((i) -> new Thread(() -> write(new Random())))
					.toList();
				writers.forEach(Thread::start);
				writers.forEach(Node::join);
				RestartedApplication.reportIdle();
				while (true) {
					join(Thread.currentThread());
				}
			}, "writers").start();
		}

		private static void pause() {
			try {
				Thread.sleep(100);
			}
			catch (InterruptedException ex) {
				Thread.currentThread().interrupt();
			}
		}

		private static void join(Thread thread) {
			try {
				thread.join();
			}
			catch (InterruptedException ex) {
				Thread.currentThread().interrupt();
			}
		}

		private void write(Random random) {
			while (!Files.exists(this.end)) {
				try (Connection connection = this.connector.connect()) {
					connection.setAutoCommit(false);
					while (!Files.exists(this.end)) {
						append(connection, random);
						Thread.sleep(random.nextInt(20));
					}
				}
				catch (SQLException | InterruptedException ex) {
					RestartedApplication.report("transaction " + ex.getClass().getSimpleName());
					System.out.println(ex.getMessage());
					pause();
				}
			}
		}

		private void append(Connection connection, Random random) throws SQLException, InterruptedException {
			int key = (random.nextInt(4) == 0) ? 0 : random.nextInt(KEYS);
			int count = (random.nextInt(30) == 0) ? 40 : 1 + random.nextInt(3);
			List<NewRow> rows = new ArrayList<>();
			List<Long> early = List.of();
			if (this.fault == PlantedFault.APPEND_BEFORE_LOCK) {
				early = this.table.append(connection, rows(key, -count, count));
			}
			int first = lock(connection, "key-" + key, count);
			rows.addAll(rows(key, first, count));
			if (early.isEmpty() && random.nextInt(4) == 0) {
				rows.add(row(null, 0));
			}
			for (NewRow row : rows) {
				record(connection, row);
			}
			if (random.nextInt(10) == 0) {
				Thread.sleep(random.nextInt(50));
			}
			List<Long> ids = early.isEmpty() ? this.table.append(connection, rows) : renumber(connection, early, rows);
			if (random.nextInt(this.colliding ? 4 : 20) == 0) {
				Thread.sleep(random.nextInt(30));
			}
			if (random.nextInt(10) == 0) {
				connection.rollback();
				return;
			}
			connection.commit();
			if (random.nextInt(10) > 0) {
				for (int i = 0; i < ids.size(); i++) {
					this.engine.wake(rows.get(i).lane(), ids.get(i));
				}
			}
		}

		private int lock(Connection connection, String key, int count) throws SQLException {
			try (PreparedStatement select = connection
				.prepareStatement("select number from crash_counter where id = ? for update");
					PreparedStatement update = connection
						.prepareStatement("update crash_counter set number = number + ? where id = ?")) {
				select.setString(1, key);
				int number;
				try (ResultSet row = select.executeQuery()) {
					row.next();
					number = row.getInt(1);
				}
				update.setInt(1, count);
				update.setString(2, key);
				update.executeUpdate();
				return number + 1;
			}
		}

		private static void record(Connection connection, NewRow row) throws SQLException {
			try (PreparedStatement insert = connection.prepareStatement("insert into crash_event values (?)")) {
				insert.setString(1, new String(row.event().payload(), StandardCharsets.UTF_8));
				insert.executeUpdate();
			}
		}

		private static List<Long> renumber(Connection connection, List<Long> ids, List<NewRow> rows)
				throws SQLException {
			try (PreparedStatement update = connection
				.prepareStatement("update outbox_event set payload = ? where lane = ? and id = ?")) {
				for (int i = 0; i < ids.size(); i++) {
					update.setBytes(1, rows.get(i).event().payload());
					update.setLong(2, rows.get(i).lane());
					update.setLong(3, ids.get(i));
					update.executeUpdate();
				}
			}
			return ids;
		}

		private List<NewRow> rows(int key, int first, int count) {
			return IntStream.range(first, first + count).mapToObj((number) -> row("key-" + key, number)).toList();
		}

		private NewRow row(@Nullable String key, int number) {
			UUID id = UUID.randomUUID();
			String payload = id + " " + ((key != null) ? key : "none") + " " + number;
			long lane = Lanes.of(RedisRuns.TOPIC, key);
			return NewRow.in(this.colliding ? lane & ~0xFF_FFFF_FFFEL : lane, RedisRuns.TOPIC, key, id, payload);
		}

	}

	/**
	 * A publisher that is slow, fails and loses replies.
	 */
	private record Disturbed(OutboxPublisher publisher, Path end) implements OutboxPublisher {

		@Override
		public String prefix() {
			return this.publisher.prefix();
		}

		@Override
		public List<Outcome> publish(List<SerializedEvent> events) {
			if (Files.exists(this.end)) {
				return this.publisher.publish(events);
			}
			ThreadLocalRandom random = ThreadLocalRandom.current();
			switch (random.nextInt(200)) {
				case 0 -> throw new IllegalStateException("Before it was sent");
				case 1 -> {
					this.publisher.publish(events);
					throw new IllegalStateException("After it was sent");
				}
				case 2 -> {
					return events.stream().<Outcome>map((event) -> new Outcome.Retry("Refused", null)).toList();
				}
				case 3 -> sleep(random.nextLong(2 * LEASE.toMillis()));
				case 4, 5, 6, 7, 8, 9 -> sleep(random.nextLong(50));
				default -> {
				}
			}
			return this.publisher.publish(events);
		}

		private static void sleep(long millis) {
			try {
				Thread.sleep(millis);
			}
			catch (InterruptedException ex) {
				Thread.currentThread().interrupt();
			}
		}

	}

}
