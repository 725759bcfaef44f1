package dev.idempotent.outbox.jdbc;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.UUID;
import java.util.function.Supplier;
import java.util.stream.Stream;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.idempotent.encryption.PayloadEncryption;
import dev.idempotent.jdbc.Database;
import dev.idempotent.outbox.OutboxSamples;
import dev.idempotent.outbox.SerializedEvent;
import dev.idempotent.outbox.jdbc.EventTable.Failure;
import dev.idempotent.outbox.jdbc.EventTable.Row;
import dev.idempotent.transaction.OwnTransactions;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.springframework.core.io.ByteArrayResource;
import org.springframework.core.io.ClassPathResource;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.init.ResourceDatabasePopulator;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * The steps of tests of the tables. Each test begins with empty ones.
 */
@Timeout(180)
abstract class EventTableSteps {

	static final String TOPIC = "memory:orders";

	static final Duration LEASE = Duration.ofMinutes(10);

	private static final int ATTEMPTS = 10;

	abstract Fixture fixture();

	@BeforeEach
	void empty() {
		OutboxTables names = fixture().tables();
		Stream.of(names.event(), names.delayed(), names.dead(), names.control())
			.forEach((table) -> template().update("delete from " + table));
	}

	final EventTable table() {
		return fixture().table();
	}

	final JdbcTemplate template() {
		return new JdbcTemplate(fixture().dataSource());
	}

	final String events() {
		return fixture().tables().event();
	}

	final <T> T inTransaction(Supplier<T> work) {
		TransactionTemplate template = new TransactionTemplate(
				new DataSourceTransactionManager(fixture().dataSource()));
		template.setPropagationBehavior(TransactionDefinition.PROPAGATION_REQUIRES_NEW);
		return template.execute((status) -> work.get());
	}

	static SerializedEvent event(@Nullable String key, String type) {
		return OutboxSamples.event(TOPIC, key, type, type.getBytes(StandardCharsets.UTF_8), Map.of("of", type));
	}

	static NewEvent ordered(String key, String type) {
		return new NewEvent(event(key, type), true, null);
	}

	static NewEvent unordered(String type) {
		return new NewEvent(event("key of " + type, type), false, null);
	}

	static NewEvent delayed(String type, Duration delay) {
		return new NewEvent(event(null, type), false, Instant.now().plus(delay));
	}

	/**
	 * Appends events in a transaction of their own.
	 */
	final List<Row> append(NewEvent... events) {
		return inTransaction(() -> table().append(Arrays.asList(events)));
	}

	/**
	 * Appends events without an order.
	 */
	final List<Row> append(String... types) {
		return append(Stream.of(types).map(EventTableSteps::unordered).toArray(NewEvent[]::new));
	}

	/**
	 * The first row of each lane.
	 */
	final List<QueuedEvent> heads() {
		return heads(1);
	}

	final List<QueuedEvent> heads(int limit) {
		List<LaneQuery> lanes = template().queryForList("select distinct lane from " + events(), Long.class)
			.stream()
			.map((lane) -> new LaneQuery(lane, 0))
			.toList();
		return lanes.isEmpty() ? List.of() : table().heads(lanes, limit);
	}

	/**
	 * Claims the first row of each lane.
	 */
	final List<ClaimedEvent> claim() {
		return claim(heads());
	}

	final List<ClaimedEvent> claim(List<QueuedEvent> heads) {
		return table().claim(heads, LEASE, ATTEMPTS);
	}

	/**
	 * Claims the first row of each lane with leases that have ended.
	 */
	final List<ClaimedEvent> claimOver() {
		return table().claim(heads(), Duration.ofSeconds(-1), ATTEMPTS);
	}

	static List<Failure> failures(List<ClaimedEvent> claims, String reason) {
		return claims.stream().map((claim) -> new Failure(claim, reason, LEASE)).toList();
	}

	static List<String> types(List<ClaimedEvent> claims) {
		return claims.stream().map((claim) -> claim.event().type()).toList();
	}

	final List<String> typesIn(String table) {
		return template().queryForList("select type from " + table + " order by id", String.class);
	}

	final void endLeases() {
		String past = (fixture().database() == Database.MYSQL) ? "timestamp '2001-01-01 00:00:00'"
				: "timestamp with time zone '2001-01-01 00:00:00Z'";
		template().update("update " + events() + " set due_at = " + past + " where due_at is not null");
	}

	/**
	 * A pool of one connection to the same database.
	 */
	final HikariConfig oneConnection() {
		HikariConfig config = new HikariConfig();
		((HikariDataSource) fixture().dataSource()).copyStateTo(config);
		config.setPoolName(null);
		config.setMaximumPoolSize(1);
		config.setConnectionTimeout(5000);
		return config;
	}

	/**
	 * Tables for tests, created by the script that applications run.
	 */
	record Fixture(DataSource dataSource, Database database, OutboxTables tables, EventTable table) {

		private static final String DEFAULT = "outbox_";

		/**
		 * Creates tables unless they exist.
		 * @param platform the suffix of the script
		 */
		static Fixture create(DataSource dataSource, String platform, String prefix) {
			try {
				String script = new ClassPathResource(Database.script(platform, "outbox"))
					.getContentAsString(StandardCharsets.UTF_8);
				byte[] renamed = script.replace(DEFAULT, prefix).getBytes(StandardCharsets.UTF_8);
				new ResourceDatabasePopulator(new ByteArrayResource(renamed)).execute(dataSource);
			}
			catch (IOException ex) {
				throw new UncheckedIOException(ex);
			}
			return on(dataSource, Database.valueOf(platform.toUpperCase(Locale.ROOT)), new OutboxTables(prefix),
					PayloadEncryption.NONE);
		}

		/**
		 * Creates tables in a new H2 database, which ends with the JVM.
		 */
		static Fixture inMemory() {
			HikariDataSource pool = new HikariDataSource();
			pool.setJdbcUrl("jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1");
			return create(pool, "h2", DEFAULT);
		}

		private static Fixture on(DataSource dataSource, Database database, OutboxTables tables,
				PayloadEncryption encryption) {
			return new Fixture(dataSource, database, tables,
					new EventTable(new OwnTransactions(dataSource), tables.prefix(), encryption));
		}

		/**
		 * The same tables with encrypted payloads.
		 */
		Fixture with(PayloadEncryption encryption) {
			return on(this.dataSource, this.database, this.tables, encryption);
		}

		/**
		 * The same tables through another pool.
		 */
		Fixture through(DataSource other) {
			return on(other, this.database, this.tables, PayloadEncryption.NONE);
		}

	}

}
