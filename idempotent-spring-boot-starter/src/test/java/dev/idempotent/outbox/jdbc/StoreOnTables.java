package dev.idempotent.outbox.jdbc;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.UUID;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import dev.idempotent.encryption.PayloadEncryption;
import dev.idempotent.jdbc.Database;
import dev.idempotent.outbox.OutboxRow;
import dev.idempotent.outbox.OutboxRow.Place;
import dev.idempotent.outbox.TestedOutboxStore;
import org.jspecify.annotations.Nullable;
import org.springframework.core.io.ByteArrayResource;
import org.springframework.core.io.ClassPathResource;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.init.ResourceDatabasePopulator;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * A store on tables for a test, created by the script that applications run.
 *
 * @param dataSource the database that they are in
 * @param database the kind of database
 * @param tables the names of the tables
 * @param store the store
 * @param transactions the manager of the transactions that the store joins
 */
record StoreOnTables(DataSource dataSource, Database database, OutboxTables tables, JdbcOutboxStore store,
		PlatformTransactionManager transactions) implements TestedOutboxStore {

	private static final String DEFAULT = "outbox_";

	/**
	 * Creates tables unless they exist.
	 * @param platform the suffix of the script
	 */
	static StoreOnTables create(DataSource dataSource, String platform, String prefix) {
		try {
			String script = new ClassPathResource("schema-" + platform + ".sql", JdbcOutboxStore.class)
				.getContentAsString(StandardCharsets.UTF_8);
			byte[] renamed = script.replace(DEFAULT, prefix).getBytes(StandardCharsets.UTF_8);
			new ResourceDatabasePopulator(new ByteArrayResource(renamed)).execute(dataSource);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		OutboxTables tables = new OutboxTables(prefix);
		Database database = Database.valueOf(platform.toUpperCase(Locale.ROOT));
		return new StoreOnTables(dataSource, database, tables,
				new JdbcOutboxStore(dataSource, tables, PayloadEncryption.NONE),
				new DataSourceTransactionManager(dataSource));
	}

	/**
	 * Creates tables in a new H2 database, which ends with the JVM.
	 */
	static StoreOnTables inMemory() {
		HikariDataSource pool = new HikariDataSource();
		pool.setJdbcUrl("jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1");
		return create(pool, "h2", DEFAULT);
	}

	/**
	 * Another store on the same tables.
	 */
	StoreOnTables with(PayloadEncryption encryption) {
		return new StoreOnTables(this.dataSource, this.database, this.tables,
				new JdbcOutboxStore(this.dataSource, this.tables, encryption), this.transactions);
	}

	OutboxTableCheck check() {
		return new OutboxTableCheck(this.dataSource, this.tables);
	}

	JdbcTemplate template() {
		return new JdbcTemplate(this.dataSource);
	}

	@Override
	public void passTime(String publisher) {
		TransactionTemplate transaction = new TransactionTemplate(this.transactions);
		transaction.setIsolationLevel(TransactionDefinition.ISOLATION_READ_COMMITTED);
		Stream.of(Place.EVENT, Place.WAITING)
			.map(this::table)
			.forEach((table) -> transaction.executeWithoutResult((status) -> passTime(table, publisher)));
	}

	private void passTime(String table, String publisher) {
		List<Long> rows = template().queryForList(
				"select id from " + table + " where topic like ? order by id for update skip locked", Long.class,
				publisher + ":%");
		if (!rows.isEmpty()) {
			String ids = rows.stream().map(String::valueOf).collect(Collectors.joining(", "));
			template().update("update " + table + " set available_at = " + longAgo() + " where id in (" + ids + ")");
		}
	}

	private String longAgo() {
		return switch (this.database) {
			case POSTGRESQL -> "timestamp with time zone '2001-01-01 00:00:00Z' + id * interval '1 millisecond'";
			case MYSQL -> "timestampadd(microsecond, id * 1000, timestamp '2001-01-01 00:00:00')";
			case H2 -> "dateadd(millisecond, id, timestamp '2001-01-01 00:00:00')";
		};
	}

	@Override
	public void insert(UUID id, String topic, Duration delay) {
		String insert = "insert into " + this.tables.event() + " (event_id, topic, type, payload";
		Object parameter = this.database.parameter(id);
		if (delay.isZero()) {
			template().update(insert + ") values (?, ?, 'foreign', ?)", parameter, topic, new byte[] { 1 });
		}
		else {
			template().update(
					insert + ", available_at) values (?, ?, 'foreign', ?, " + this.database.millisFromNow() + ")",
					parameter, topic, new byte[] { 1 }, delay.toMillis());
		}
	}

	/**
	 * Inserts an event with invalid headers.
	 */
	void insertWithHeaders(String topic, String headers) {
		template().update(
				"insert into " + this.tables.event()
						+ " (event_id, topic, type, payload, headers) values (?, ?, 'foreign', ?, ?)",
				this.database.parameter(UUID.randomUUID()), topic, new byte[] { 1 }, headers);
	}

	@Override
	public List<OutboxRow> rows(Place place, String publisher) {
		String claim = (place == Place.DEAD) ? "null as claim_id, null as claimed_by" : "claim_id, claimed_by";
		return template().query(
				"select " + ((place == Place.DEAD) ? "sequence as id" : "id") + ", "
						+ EventColumn.readAfterId(Integer.MAX_VALUE) + ", " + claim + ", last_error from "
						+ table(place) + " where topic like ? order by 1",
				(columns, number) -> new OutboxRow(EventRow.of(columns).event(), id(columns),
						columns.getString("claimed_by"), columns.getString("last_error")),
				publisher + ":%");
	}

	private static @Nullable UUID id(ResultSet columns) throws SQLException {
		String id = columns.getString("claim_id");
		return (id != null) ? UUID.fromString(id) : null;
	}

	String table(Place place) {
		return switch (place) {
			case EVENT -> this.tables.event();
			case WAITING -> this.tables.waiting();
			case DEAD -> this.tables.dead();
		};
	}

}
