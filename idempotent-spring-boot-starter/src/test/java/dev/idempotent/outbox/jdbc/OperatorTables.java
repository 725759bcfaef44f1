package dev.idempotent.outbox.jdbc;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import java.util.stream.IntStream;

import javax.sql.DataSource;

import dev.idempotent.jdbc.Database;
import org.springframework.core.io.ByteArrayResource;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.init.ResourceDatabasePopulator;

/**
 * The tables of an outbox, filled by a test.
 *
 * @param dataSource the database
 * @param names the names of the tables
 */
record OperatorTables(DataSource dataSource, OutboxTables names) {

	static final String TYPE = "order.created";

	static final String TOPIC = "test:orders";

	private static final String INSERT = " (id, sequence, event_id, topic, event_key, type, content_type, payload, headers, created_at, "
			+ "attempts, last_error";

	/**
	 * Creates empty tables.
	 * @param database as in the name of the script
	 */
	static OperatorTables create(DataSource dataSource, String database, String prefix) {
		String name = "schema-" + database + ".sql";
		try (InputStream script = Objects.requireNonNull(OutboxTables.class.getResourceAsStream(name))) {
			String sql = new String(script.readAllBytes(), StandardCharsets.UTF_8).replace("outbox_", prefix);
			new ResourceDatabasePopulator(new ByteArrayResource(sql.getBytes(StandardCharsets.UTF_8)))
				.execute(dataSource);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		OperatorTables tables = new OperatorTables(dataSource, new OutboxTables(prefix));
		List.of(tables.names.event(), tables.names.ordered(), tables.names.waiting(), tables.names.dead())
			.forEach((table) -> tables.template().update("delete from " + table));
		return tables;
	}

	JdbcTemplate template() {
		return new JdbcTemplate(this.dataSource);
	}

	/**
	 * Inserts dead events into consecutive rows.
	 */
	void deadLetter(int firstRow, int count, String type, String topic) {
		String sql = "insert into " + this.names.dead() + INSERT
				+ ") values (?, ?, ?, ?, 'secret key', ?, 'text/plain', ?, " + "'{}', " + now()
				+ ", 10, 'The broker refused it')";
		template().batchUpdate(sql,
				IntStream.range(firstRow, firstRow + count)
					.mapToObj((row) -> new Object[] { row, row, parameter(id(row)), topic, type,
							"secret".getBytes(StandardCharsets.UTF_8) })
					.toList());
	}

	void deadLetter(int firstRow, int count) {
		deadLetter(firstRow, count, TYPE, TOPIC);
	}

	/**
	 * Moves the waiting events to the dead ones.
	 */
	void deadLetterWaiting() {
		deadLetterAll(this.names.waiting());
	}

	/**
	 * Moves the pending events to the dead ones.
	 */
	void deadLetterPending() {
		deadLetterAll(this.names.event());
	}

	private void deadLetterAll(String table) {
		template().update("insert into " + this.names.dead() + " (sequence, " + EventColumn.MOVED
				+ ", attempts) select id, " + EventColumn.MOVED + ", 10 from " + table);
		template().update("delete from " + table);
	}

	/**
	 * Inserts a pending event.
	 * @param age how long ago
	 * @param lease how long it is leased; zero for no lease
	 */
	void append(Duration age, Duration lease) {
		Database dialect = dialect();
		template().update("insert into " + this.names.event()
				+ " (event_id, topic, type, payload, headers, created_at, available_at, claim_id) values (?, ?, ?, ?, '{}', "
				+ dialect.millisFromNow() + ", " + dialect.millisFromNow() + ", ?)", parameter(UUID.randomUUID()),
				TOPIC, TYPE, new byte[1], -age.toMillis(), lease.toMillis(),
				lease.isZero() ? null : parameter(UUID.randomUUID()));
	}

	/**
	 * Doubles the number of pending events.
	 */
	void doublePending() {
		template().update("insert into " + this.names.event() + " (event_id, topic, type, payload, headers) "
				+ "select event_id, topic, type, payload, headers from " + this.names.event());
	}

	/**
	 * Makes dead events older.
	 */
	void age(int lastRow, Duration by) {
		template().update(
				"update " + this.names.dead() + " set died_at = " + dialect().millisFromNow() + " where id <= ?",
				-by.toMillis(), lastRow);
	}

	/**
	 * Makes the ordered events of a key older.
	 */
	void ageOrdered(String key, Duration by) {
		template().update("update " + this.names.ordered() + " set created_at = " + dialect().millisFromNow()
				+ " where event_key = ?", -by.toMillis(), key);
	}

	/**
	 * Makes the ordered events of a key failed ones.
	 */
	void failOrdered(String key) {
		template().update("update " + this.names.ordered() + " set last_error = 'refused' where event_key = ?", key);
	}

	int count(String table) {
		return Objects.requireNonNull(template().queryForObject("select count(*) from " + table, Integer.class));
	}

	static UUID id(int row) {
		return new UUID(7, row);
	}

	private Object parameter(UUID id) {
		return dialect().parameter(id);
	}

	private String now() {
		return dialect().now();
	}

	private Database dialect() {
		return new OutboxDatabase(this.dataSource).kind();
	}

}
