package dev.idempotent.outbox.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.stream.Collectors;

import dev.idempotent.jdbc.StatementFailures;
import dev.idempotent.outbox.DeadEvent;
import dev.idempotent.outbox.DeadFilter;

/**
 * Rows of dead events. What is locked here stays so until the end of the caller's
 * transaction; what another transaction has locked is left to it.
 */
final class DeadRows {

	private final EventDialect dialect;

	private final OutboxTables tables;

	DeadRows(EventDialect dialect, OutboxTables tables) {
		this.dialect = dialect;
		this.tables = tables;
	}

	List<DeadEvent> read(Connection connection, DeadFilter filter, long after, int limit) {
		String sql = "select id, event_id, type, topic, attempts, " + this.dialect.ageMillis("died_at")
				+ ", last_error, octet_length(payload) from " + this.tables.dead() + condition(filter)
				+ " order by id limit ?";
		return query(connection, sql, parameters(filter, after, limit), DeadRows::event);
	}

	/**
	 * Locks rows that a filter lets through.
	 * @param after the row behind which to begin
	 */
	List<Long> lock(Connection connection, DeadFilter filter, long after, int limit) {
		return lock(connection, condition(filter), parameters(filter, after, limit));
	}

	/**
	 * Locks rows of events that have been dead for some time.
	 */
	List<Long> lockOlderThan(Connection connection, Duration age, int limit) {
		return lock(connection, " where " + this.dialect.ageMillis("died_at") + " >= ?",
				List.of(age.toMillis(), limit));
	}

	/**
	 * Moves locked rows to those that wait, due at once and as if never attempted.
	 */
	void revive(Connection connection, List<Long> rows) {
		if (!rows.isEmpty()) {
			execute(connection,
					"insert into " + this.tables.waiting() + " (" + FailedRows.SAME
							+ ", attempts, available_at) select " + FailedRows.SAME + ", 0, " + this.dialect.now()
							+ " from " + this.tables.dead() + in(rows));
			delete(connection, rows);
		}
	}

	/**
	 * Deletes locked rows.
	 */
	void delete(Connection connection, List<Long> rows) {
		if (!rows.isEmpty()) {
			execute(connection, "delete from " + this.tables.dead() + in(rows));
		}
	}

	private List<Long> lock(Connection connection, String condition, List<Object> parameters) {
		String sql = "select id from " + this.tables.dead() + condition + " order by id limit ? for update skip locked";
		return query(connection, sql, parameters, (row) -> row.getLong(1));
	}

	private static String condition(DeadFilter filter) {
		return " where id > ?" + ((filter.id() != null) ? " and event_id = ?" : "")
				+ ((filter.type() != null) ? " and type = ?" : "") + ((filter.topic() != null) ? " and topic = ?" : "");
	}

	private List<Object> parameters(DeadFilter filter, long after, int limit) {
		List<Object> parameters = new ArrayList<>();
		parameters.add(after);
		if (filter.id() != null) {
			parameters.add(this.dialect.parameter(filter.id()));
		}
		if (filter.type() != null) {
			parameters.add(filter.type());
		}
		if (filter.topic() != null) {
			parameters.add(filter.topic());
		}
		parameters.add(limit);
		return parameters;
	}

	private static DeadEvent event(ResultSet row) throws SQLException {
		return new DeadEvent(UUID.fromString(row.getString(2)), row.getLong(1), row.getString(3), row.getString(4),
				row.getInt(5), Duration.ofMillis(Math.max(0, row.getLong(6))), row.getString(7), row.getLong(8));
	}

	private static <T> List<T> query(Connection connection, String sql, List<Object> parameters, RowReader<T> reader) {
		try (PreparedStatement statement = connection.prepareStatement(sql)) {
			for (int i = 0; i < parameters.size(); i++) {
				statement.setObject(i + 1, parameters.get(i));
			}
			try (ResultSet rows = statement.executeQuery()) {
				List<T> read = new ArrayList<>();
				while (rows.next()) {
					read.add(reader.read(rows));
				}
				return read;
			}
		}
		catch (SQLException ex) {
			throw StatementFailures.translate(sql, ex);
		}
	}

	private static void execute(Connection connection, String sql) {
		try (PreparedStatement statement = connection.prepareStatement(sql)) {
			statement.executeUpdate();
		}
		catch (SQLException ex) {
			throw StatementFailures.translate(sql, ex);
		}
	}

	private static String in(List<Long> rows) {
		return rows.stream().map(String::valueOf).collect(Collectors.joining(", ", " where id in (", ")"));
	}

	/**
	 * Reads the row that a result set is at.
	 */
	private interface RowReader<T> {

		T read(ResultSet row) throws SQLException;

	}

}
