package dev.idempotent.outbox.jdbc;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.UUID;

import dev.idempotent.jdbc.Database;
import dev.idempotent.jdbc.Statements;
import dev.idempotent.outbox.DeadEvents.DeadEvent;
import dev.idempotent.outbox.DeadEvents.DeadFilter;

/**
 * The rows of dead events. Locks last until the end of the caller's transaction; rows
 * that another transaction has locked are skipped.
 */
final class DeadRows {

	private final Database database;

	private final OutboxTables tables;

	DeadRows(Database database, OutboxTables tables) {
		this.database = database;
		this.tables = tables;
	}

	List<DeadEvent> read(Connection connection, DeadFilter filter, long after, int limit) {
		FilterCondition condition = FilterCondition.of(this.database, filter, " where id > ?", after);
		return Statements.query(connection,
				"select id, event_id, type, topic, attempts, " + this.database.millisSince("died_at")
						+ " as age, last_error, octet_length(payload) as bytes from " + this.tables.dead()
						+ condition.sql() + " order by id limit " + limit,
				condition.parameters(), (row, number) -> event(row));
	}

	/**
	 * The last row.
	 * @return 0 if there is none
	 */
	long last(Connection connection) {
		return Statements
			.query(connection, "select max(id) from " + this.tables.dead(), List.of(), (row, number) -> row.getLong(1))
			.get(0);
	}

	/**
	 * Locks rows that match a filter.
	 * @param after only rows above this one
	 * @param last no rows above this one
	 */
	List<Long> lock(Connection connection, DeadFilter filter, long after, long last, int limit) {
		return lock(connection, FilterCondition.of(this.database, filter, " where id > ? and id <= ?", after, last),
				limit);
	}

	/**
	 * Locks rows of events that have been dead for some time.
	 */
	List<Long> lockOlderThan(Connection connection, Duration age, int limit) {
		return lock(connection, new FilterCondition(" where " + this.database.millisSince("died_at") + " >= ?",
				List.of(age.toMillis())), limit);
	}

	/**
	 * Deletes locked rows.
	 */
	int delete(Connection connection, List<Long> rows) {
		return rows.isEmpty() ? 0 : Statements.update(connection,
				"delete from " + this.tables.dead() + " where id" + OutboxTables.in(rows));
	}

	private List<Long> lock(Connection connection, FilterCondition condition, int limit) {
		return Statements.query(connection, "select id from " + this.tables.dead() + condition.sql()
				+ " order by id limit " + limit + " for update skip locked", condition.parameters(),
				(row, number) -> row.getLong(1));
	}

	private static DeadEvent event(ResultSet row) throws SQLException {
		return new DeadEvent(UUID.fromString(row.getString("event_id")), row.getLong("id"), row.getString("type"),
				row.getString("topic"), row.getInt("attempts"), Duration.ofMillis(Math.max(0, row.getLong("age"))),
				row.getString("last_error"), row.getLong("bytes"));
	}

}
