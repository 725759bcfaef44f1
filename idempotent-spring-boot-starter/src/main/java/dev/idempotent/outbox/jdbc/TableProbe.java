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
		String event = EventColumn.MOVED + ", attempts, last_error";
		Map<String, String> all = new HashMap<>(Map.of(this.tables.event(), "id, " + event, this.tables.ordered(),
				"id, key_hash, sequence, " + event, this.tables.waiting(), "id, " + event, this.tables.dead(),
				"id, key_hash, sequence, " + event, this.tables.control(), "topic, paused_at"));
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
