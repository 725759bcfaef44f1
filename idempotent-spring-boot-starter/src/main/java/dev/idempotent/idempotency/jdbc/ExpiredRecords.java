package dev.idempotent.idempotency.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * The rows whose time has ended.
 */
final class ExpiredRecords {

	private final String table;

	ExpiredRecords(String table) {
		this.table = RecordDialect.requireTable(table);
	}

	/**
	 * Deletes some of the rows that no transaction holds; by their keys, so that nothing
	 * else is locked.
	 * @return how many
	 */
	int delete(Connection connection, int atMost) {
		String sql = "";
		try {
			RecordDialect dialect = RecordDialect.of(connection);
			sql = select(this.table, dialect, atMost);
			List<String> keys = lock(connection, sql);
			if (keys.isEmpty()) {
				return 0;
			}
			sql = "delete from " + this.table + " where key_digest in ("
					+ String.join(", ", Collections.nCopies(keys.size(), "?")) + ") and " + expired(dialect);
			delete(connection, sql, keys);
			return keys.size();
		}
		catch (SQLException ex) {
			throw RecordFailures.translate(sql, ex);
		}
	}

	static String select(String table, RecordDialect dialect, int atMost) {
		return "select key_digest from " + table + " where " + expired(dialect) + " order by expires_at limit " + atMost
				+ " for update skip locked";
	}

	private static String expired(RecordDialect dialect) {
		return "expires_at <= " + dialect.nowForIndexes();
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
			for (int i = 0; i < keys.size(); i++) {
				statement.setString(i + 1, keys.get(i));
			}
			statement.executeUpdate();
		}
	}

}
