package dev.idempotent.outbox.jdbc;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;

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
	int read(Connection connection) {
		List<String> all = List.of(this.tables.event(), this.tables.waiting(), this.tables.dead());
		for (String table : all) {
			select(connection, "id, " + EventColumn.MOVED + ", attempts, last_error", table);
		}
		select(connection, "topic, paused_at", this.tables.control());
		return all.size() + 1;
	}

	private static void select(Connection connection, String columns, String table) {
		String sql = "select " + columns + " from " + table + " where 1 = 0";
		try (Statement statement = connection.createStatement(); ResultSet rows = statement.executeQuery(sql)) {
			rows.next();
		}
		catch (SQLException ex) {
			throw Statements.translate(sql, ex);
		}
	}

}
