package dev.idempotent.idempotency.jdbc;

import java.sql.Connection;
import java.util.List;

import dev.idempotent.jdbc.Database;
import dev.idempotent.jdbc.Statements;

/**
 * The rows whose lease or retention has ended.
 */
final class ExpiredRecords {

	private final String table;

	ExpiredRecords(String table) {
		this.table = RecordSql.requireTable(table);
	}

	/**
	 * Locks rows that no transaction has locked and deletes them one by one: with a list
	 * of keys, MySQL may read the whole table and wait for the locks of others.
	 * @return how many
	 */
	int delete(Connection connection, int atMost) {
		List<String> keys = Statements.query(connection, select(this.table, RecordSql.databaseOf(connection), atMost),
				List.of(), (row, number) -> row.getString("key_digest"));
		Statements.updateEach(connection, "delete from " + this.table + " where key_digest = ?",
				keys.stream().map(List::of).toList());
		return keys.size();
	}

	static String select(String table, Database database, int atMost) {
		return "select key_digest from " + table + " where expires_at <= " + database.nowForIndexes()
				+ " order by expires_at limit " + atMost + " for update skip locked";
	}

}
