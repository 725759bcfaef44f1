package dev.idempotent.idempotency.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;

import dev.idempotent.jdbc.StatementFailures;

/**
 * The rows whose time has ended.
 */
final class ExpiredRecords {

	private final String table;

	ExpiredRecords(String table) {
		this.table = RecordDialect.requireTable(table);
	}

	/**
	 * Locks some of the rows that no transaction holds and deletes them, one by one: for
	 * a list of keys, MySQL may read the whole table and wait for what others hold.
	 * @return how many
	 */
	int delete(Connection connection, int atMost) {
		String sql = "";
		try {
			RecordDialect dialect = RecordDialect.of(connection);
			sql = select(this.table, dialect, atMost);
			List<String> keys = lock(connection, sql);
			sql = "delete from " + this.table + " where key_digest = ?";
			delete(connection, sql, keys);
			return keys.size();
		}
		catch (SQLException ex) {
			throw StatementFailures.translate(sql, ex);
		}
	}

	static String select(String table, RecordDialect dialect, int atMost) {
		return "select key_digest from " + table + " where expires_at <= " + dialect.nowForIndexes()
				+ " order by expires_at limit " + atMost + " for update skip locked";
	}

	private static List<String> lock(Connection connection, String sql) throws SQLException {
		try (Statement statement = connection.createStatement(); ResultSet rows = statement.executeQuery(sql)) {
			List<String> keys = new ArrayList<>();
			while (rows.next()) {
				keys.add(rows.getString(1));
			}
			return keys;
		}
	}

	private static void delete(Connection connection, String sql, List<String> keys) throws SQLException {
		try (PreparedStatement statement = connection.prepareStatement(sql)) {
			for (String key : keys) {
				statement.setString(1, key);
				statement.addBatch();
			}
			statement.executeBatch();
		}
	}

}
