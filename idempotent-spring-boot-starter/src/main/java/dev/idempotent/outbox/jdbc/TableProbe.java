package dev.idempotent.outbox.jdbc;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.HashMap;
import java.util.Map;

import dev.idempotent.jdbc.Database;
import dev.idempotent.jdbc.Statements;

/**
 * Checks that the tables exist.
 */
final class TableProbe {

	private final OutboxTables tables;

	TableProbe(OutboxTables tables) {
		this.tables = tables;
	}

	/**
	 * Selects no rows from each table.
	 * @return the number of tables
	 * @throws org.springframework.dao.InvalidDataAccessResourceUsageException if one is
	 * missing, or lacks a column
	 */
	int read(Database database, Connection connection) {
		String event = "lane, id, created_at, " + EventRow.COLUMNS;
		Map<String, String> all = new HashMap<>(Map.of(this.tables.event(), event + ", attempts, due_at, last_error",
				this.tables.delayed(), event + ", due_at", this.tables.dead(),
				event + ", sequence, attempts, last_error, died_at", this.tables.control(), "topic, paused_at"));
		if (database != Database.POSTGRESQL) {
			all.put(this.tables.transaction(), "id");
		}
		all.forEach((table, columns) -> {
			String sql = "select " + columns + " from " + table + " where 1 = 0";
			try (Statement statement = connection.createStatement(); ResultSet rows = statement.executeQuery(sql)) {
				rows.next();
			}
			catch (SQLException ex) {
				throw Statements.translate(sql, ex);
			}
		});
		return all.size();
	}

}
