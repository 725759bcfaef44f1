package dev.idempotent.idempotency.jdbc;

import java.sql.Connection;
import java.time.Duration;
import java.util.function.Supplier;

import dev.idempotent.jdbc.Database;
import dev.idempotent.jdbc.Statements;
import org.jspecify.annotations.Nullable;

/**
 * The statements for one table, with all differences between databases. The parameters of
 * each are listed in the order of their places.
 *
 * @param database the database
 * @param insert key, token, version, digest, completed, response, milliseconds
 * @param takeOver token, version, digest, completed, response, milliseconds, key, token
 * that was read before
 * @param complete version, digest, response, milliseconds, key, token
 * @param completeOwn the same, for a row that the transaction has inserted; returns 1 if
 * it has completed that row. {@code null} if the database plans {@code complete} at each
 * execution
 * @param renew milliseconds, key, token
 * @param lock keys, with {@code %s} for their places
 * @param extend milliseconds, locked key
 * @param keep milliseconds, key, token
 * @param release key, token
 * @param find key
 * @param forget key, token
 * @param count the number of rows to read
 * @param pending the number of rows to read
 * @param lastRead that number less one: returns how long the last of these rows remains
 */
record RecordSql(Database database, Change insert, Change takeOver, String complete, @Nullable String completeOwn,
		Change renew, String lock, String extend, String keep, String release, String find, Change forget, String count,
		String pending, String lastRead) {

	private static final String COLUMNS = "key_digest, token, fingerprint_version, fingerprint_digest, completed, "
			+ "response, expires_at";

	private static final String OWN_PENDING = " where key_digest = ? and token = ? and not completed";

	private static final String OWN_COMPLETED = " where key_digest = ? and token = ? and completed";

	private static final String UNLESS_THERE = " on conflict (key_digest) do nothing";

	static RecordSql of(Database database, String table) {
		String update = "update " + table + " set ";
		String end = database.millisFromNow();
		String complete = update + "fingerprint_version = ?, fingerprint_digest = ?, completed = true, response = ?, "
				+ "expires_at = " + end + OWN_PENDING;
		String release = "delete from " + table + OWN_PENDING;
		String find = "select token, fingerprint_version, fingerprint_digest, completed, response, "
				+ database.microsUntil("expires_at") + ", " + database.epoch(table) + " from " + table
				+ " where key_digest = ?";
		return new RecordSql(database, insert(database, table), takeOver(database, table, update), complete,
				completeOwn(database, table), renew(database, table, update), lock(database, table),
				update + "expires_at = " + end + " where key_digest = ?",
				update + "expires_at = greatest(expires_at, " + end + ")" + OWN_COMPLETED, release, find,
				forget(database, table), count(database, table), pending(database, table), lastRead(database, table));
	}

	/**
	 * Returns whether one plan of a statement suits a table of any size, so that the
	 * server may keep it: an insert finds a conflicting row by the unique index, while
	 * the plan of an update for an empty table reads the whole table.
	 */
	boolean isPlannedOnce(String sql) {
		return sql.equals(this.insert.plain()) || sql.equals(this.insert.limited()) || sql.equals(this.completeOwn);
	}

	/**
	 * Limits the wait of a plain change for a lock, for a database without a
	 * {@linkplain Change#limited limited} one. The timeout of a session of H2 is not
	 * changed.
	 * @param change executes the change on the connection
	 */
	<T> T limited(Connection connection, Duration lockTimeout, Supplier<T> change) {
		return (this.database == Database.MYSQL) ? Statements.limitedOnMySql(connection, lockTimeout, change)
				: change.get();
	}

	static Database databaseOf(Connection connection) {
		return Database.of(connection, "Idempotency keys", "keep them in Redis (idempotent.store=redis)");
	}

	static String requireTable(String name) {
		if (!Database.isTableName(name)) {
			throw new IllegalArgumentException("'%s' is not a valid table name".formatted(name));
		}
		return name;
	}

	private static Change insert(Database database, String table) {
		String into = "insert into " + table + " (" + COLUMNS + ") ";
		String row = "?, ?, ?, ?, ?, ?, " + database.millisFromNow();
		return switch (database) {
			case POSTGRESQL -> new Change(into + "values (" + row + ")" + UNLESS_THERE,
					limited(table, into + "select " + row + " from limited" + UNLESS_THERE));
			case MYSQL -> new Change(into + "values (" + row + ")", null);
			case H2 -> new Change(into + h2RowUnlessThere(database, table), null);
		};
	}

	/**
	 * Fails only in a race: H2 2.4.240 waits in an endless busy loop for a transaction in
	 * which a statement has failed.
	 */
	private static String h2RowUnlessThere(Database database, String table) {
		return "select cast(?1 as varchar), cast(?2 as varchar), cast(?3 as integer), cast(?4 as varchar), "
				+ "cast(?5 as boolean), cast(?6 as binary large object), " + database.millisFromNow().replace("?", "?7")
				+ " where not exists (select 1 from " + table + " where key_digest = ?1)";
	}

	/**
	 * An insert, which is {@linkplain #isPlannedOnce planned once}. The row that it
	 * inserts if the transaction has lost its own is not completed.
	 */
	private static @Nullable String completeOwn(Database database, String table) {
		return (database != Database.POSTGRESQL) ? null : "insert into " + table + " as own "
				+ "(fingerprint_version, fingerprint_digest, response, expires_at, key_digest, token, completed) "
				+ "values (?, ?, ?, " + database.millisFromNow() + ", ?, ?, false) on conflict (key_digest) "
				+ "do update set fingerprint_version = excluded.fingerprint_version, "
				+ "fingerprint_digest = excluded.fingerprint_digest, completed = true, response = excluded.response, "
				+ "expires_at = excluded.expires_at where own.token = excluded.token and not own.completed "
				+ "returning cast(completed as integer)";
	}

	private static Change takeOver(Database database, String table, String update) {
		return change(database, table,
				update + "token = ?, fingerprint_version = ?, fingerprint_digest = ?, completed = ?, response = ?, "
						+ "expires_at = " + database.millisFromNow(),
				" where key_digest = ? and token = ? and expires_at <= " + database.now());
	}

	private static Change renew(Database database, String table, String update) {
		return change(database, table, update + "expires_at = " + database.millisFromNow(),
				OWN_PENDING + " and expires_at > " + database.now());
	}

	/**
	 * Rows that another transaction has locked are skipped: one of them would delay the
	 * others of a batch.
	 */
	private static String lock(Database database, String table) {
		return "select key_digest, token from " + table + " where not completed and expires_at > " + database.now()
				+ " and key_digest in (%s) for update skip locked";
	}

	static String expired(String table, Database database, int atMost) {
		return "select key_digest from " + table + " where expires_at <= " + database.nowForIndexes()
				+ " order by expires_at limit " + atMost + " for update skip locked";
	}

	private static String count(Database database, String table) {
		return "select completed, count(*) from (select completed from " + table + " where expires_at > "
				+ database.nowForIndexes() + " limit ?) counted group by completed";
	}

	/**
	 * Reads rows in the order of their index, so that no further index is needed: leases
	 * end long before the retentions of most responses. The responses themselves are not
	 * read.
	 */
	private static String pending(Database database, String table) {
		return "select key_digest, token, description, " + database.microsUntil("expires_at")
				+ " from (select key_digest, token, completed, case when completed then null else response end "
				+ "as description, expires_at from " + table + " where expires_at > " + database.nowForIndexes()
				+ " order by expires_at limit ?) soonest where not completed";
	}

	private static String lastRead(Database database, String table) {
		return "select " + database.microsUntil("expires_at") + " from " + table + " where expires_at > "
				+ database.nowForIndexes() + " order by expires_at limit 1 offset ?";
	}

	private static Change forget(Database database, String table) {
		String delete = "delete from " + table;
		return new Change(delete + OWN_COMPLETED,
				database.combinesChanges() ? limited(table, delete + " using limited" + OWN_COMPLETED) : null);
	}

	private static Change change(Database database, String table, String update, String where) {
		return new Change(update + where,
				database.combinesChanges() ? limited(table, update + " from limited" + where) : null);
	}

	private static String limited(String table, String change) {
		return Statements.limitedOnPostgres(change + " returning 1", "", ", " + Database.POSTGRESQL.epoch(table));
	}

	/**
	 * A statement that changes one row or none.
	 *
	 * @param plain waits for a lock up to the timeout of the session
	 * @param limited waits for a lock up to its first parameter, in milliseconds, and
	 * returns the number of rows, and third the epoch; {@code null} if the database has
	 * no such statement
	 */
	record Change(String plain, @Nullable String limited) {
	}

}
