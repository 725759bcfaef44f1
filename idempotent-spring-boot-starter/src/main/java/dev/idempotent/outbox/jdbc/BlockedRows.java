package dev.idempotent.outbox.jdbc;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.UUID;

import dev.idempotent.jdbc.Database;
import dev.idempotent.jdbc.Statements;
import dev.idempotent.outbox.DeadEvents.DeadFilter;
import dev.idempotent.outbox.OutboxStore.OrderedRow;
import dev.idempotent.outbox.jdbc.JdbcBlockedEvents.BlockedEvent;

/**
 * The rows of blocked events. Locks last until the end of the caller's transaction; rows
 * that another transaction has locked are skipped.
 */
final class BlockedRows {

	private final Database database;

	private final OutboxTables tables;

	BlockedRows(Database database, OutboxTables tables) {
		this.database = database;
		this.tables = tables;
	}

	/**
	 * The end of a blocked event's delay.
	 */
	static String never(Database database) {
		return (database == Database.MYSQL) ? "timestamp '9999-12-31 00:00:00'"
				: "timestamp with time zone '9999-12-31 00:00:00+00'";
	}

	List<BlockedEvent> read(Connection connection, DeadFilter filter, OrderedRow after, int limit) {
		FilterCondition condition = condition(filter, after);
		return Statements.query(connection,
				"select key_hash, id, event_id, type, topic, attempts, " + this.database.millisSince("created_at")
						+ " as age, last_error, octet_length(payload) as bytes from " + this.tables.ordered()
						+ condition.sql() + " order by key_hash, id limit " + limit,
				condition.parameters(), (row, number) -> event(row));
	}

	/**
	 * Locks rows that match a filter, above the given one.
	 */
	List<OrderedRow> lock(Connection connection, DeadFilter filter, OrderedRow after, int limit) {
		FilterCondition condition = condition(filter, after);
		return Statements.query(connection,
				"select key_hash, id from " + this.tables.ordered() + condition.sql() + " order by key_hash, id limit "
						+ limit + " for update skip locked",
				condition.parameters(), (row, number) -> new OrderedRow(row.getLong(1), row.getLong(2)));
	}

	/**
	 * Makes locked rows due, without attempts.
	 */
	void retry(Connection connection, List<OrderedRow> rows) {
		update(connection,
				"update " + this.tables.ordered() + " set attempts = 0, last_error = null, available_at = created_at",
				rows);
	}

	/**
	 * Copies locked rows to the dead events.
	 */
	void copyToDead(Connection connection, List<OrderedRow> rows) {
		update(connection, EventMoves.orderedToDead(this.tables, "last_error"), rows);
	}

	/**
	 * Deletes locked rows.
	 */
	void delete(Connection connection, List<OrderedRow> rows) {
		update(connection, "delete from " + this.tables.ordered(), rows);
	}

	private void update(Connection connection, String sql, List<OrderedRow> rows) {
		if (!rows.isEmpty()) {
			Statements.update(connection, sql + " where " + OrderedRows.condition(this.database, rows));
		}
	}

	/**
	 * A range of keys that every database searches by index.
	 */
	private FilterCondition condition(DeadFilter filter, OrderedRow after) {
		return FilterCondition.of(this.database, filter,
				" where key_hash >= ? and (key_hash > ? or id > ?) and available_at = " + never(this.database),
				after.keyHash(), after.keyHash(), after.row());
	}

	private static BlockedEvent event(ResultSet row) throws SQLException {
		return new BlockedEvent(UUID.fromString(row.getString("event_id")), row.getLong("key_hash"), row.getLong("id"),
				row.getString("type"), row.getString("topic"), row.getInt("attempts"),
				Duration.ofMillis(Math.max(0, row.getLong("age"))), row.getString("last_error"), row.getLong("bytes"));
	}

}
