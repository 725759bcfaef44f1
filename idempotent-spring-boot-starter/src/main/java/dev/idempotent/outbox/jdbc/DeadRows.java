package dev.idempotent.outbox.jdbc;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
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
		Condition condition = condition(filter, after);
		return Statements.query(connection,
				"select id, event_id, type, topic, attempts, " + this.database.millisSince("died_at")
						+ " as age, last_error, octet_length(payload) as bytes from " + this.tables.dead()
						+ condition.sql() + " order by id limit " + limit,
				condition.parameters(), (row, number) -> event(row));
	}

	/**
	 * Locks rows that match a filter.
	 * @param after only rows above this one
	 */
	List<Long> lock(Connection connection, DeadFilter filter, long after, int limit) {
		return lock(connection, condition(filter, after), limit);
	}

	/**
	 * Locks rows of events that have been dead for some time.
	 */
	List<Long> lockOlderThan(Connection connection, Duration age, int limit) {
		return lock(connection,
				new Condition(" where " + this.database.millisSince("died_at") + " >= ?", List.of(age.toMillis())),
				limit);
	}

	/**
	 * Deletes locked rows.
	 */
	int delete(Connection connection, List<Long> rows) {
		return rows.isEmpty() ? 0 : Statements.update(connection,
				"delete from " + this.tables.dead() + " where id" + OutboxTables.in(rows));
	}

	private List<Long> lock(Connection connection, Condition condition, int limit) {
		return Statements.query(connection, "select id from " + this.tables.dead() + condition.sql()
				+ " order by id limit " + limit + " for update skip locked", condition.parameters(),
				(row, number) -> row.getLong(1));
	}

	private Condition condition(DeadFilter filter, long after) {
		StringBuilder sql = new StringBuilder(" where id > ?");
		List<Object> parameters = new ArrayList<>(List.of(after));
		if (filter.id() != null) {
			sql.append(" and event_id = ?");
			parameters.add(this.database.parameter(filter.id()));
		}
		if (filter.type() != null) {
			sql.append(" and type = ?");
			parameters.add(filter.type());
		}
		if (filter.topic() != null) {
			sql.append(" and topic = ?");
			parameters.add(filter.topic());
		}
		return new Condition(sql.toString(), parameters);
	}

	private static DeadEvent event(ResultSet row) throws SQLException {
		return new DeadEvent(UUID.fromString(row.getString("event_id")), row.getLong("id"), row.getString("type"),
				row.getString("topic"), row.getInt("attempts"), Duration.ofMillis(Math.max(0, row.getLong("age"))),
				row.getString("last_error"), row.getLong("bytes"));
	}

	private record Condition(String sql, List<Object> parameters) {
	}

}
