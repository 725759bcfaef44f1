package dev.idempotent.outbox.jdbc;

import java.sql.Connection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;

import dev.idempotent.jdbc.Database;
import dev.idempotent.jdbc.Statements;
import dev.idempotent.outbox.OutboxStore.FailedEvent;
import dev.idempotent.outbox.OutboxStore.LeasedEvent;

/**
 * Moves rows between the tables of pending, waiting and dead events, within the
 * transaction of the caller.
 */
final class EventMoves {

	private static final int MAX_REASON = 1000;

	private final Database database;

	private final OutboxTables tables;

	private final LeasedRows leased;

	private final boolean toFreeRows;

	EventMoves(Database database, OutboxTables tables) {
		this(database, tables, false);
	}

	private EventMoves(Database database, OutboxTables tables, boolean toFreeRows) {
		this.database = database;
		this.tables = tables;
		this.leased = new LeasedRows(database, tables);
		this.toFreeRows = toFreeRows;
	}

	/**
	 * Returns moves that give an event another row if its own is taken in the other
	 * table, at the cost of a query for each event.
	 */
	EventMoves toFreeRows() {
		return new EventMoves(this.database, this.tables, true);
	}

	/**
	 * Moves events of one table to the table of waiting events, until their delays have
	 * passed.
	 * @return how many were still leased
	 */
	int toWaiting(Connection connection, boolean waiting, List<FailedEvent> events) {
		Map<Long, FailedEvent> locked = lock(connection, waiting, events);
		Map<Long, List<Object>> rows = map(locked, (event) -> List.of(event.counted() ? 0 : 1, reason(event),
				event.delay().toMillis(), event.leased().row()));
		if (waiting) {
			Statements.updateEach(connection,
					"update " + this.tables.waiting()
							+ " set claim_id = null, claimed_by = null, attempts = attempts - ?, last_error = ?, "
							+ "available_at = " + this.database.millisFromNow() + " where id = ?",
					List.copyOf(rows.values()));
			return locked.size();
		}
		copy(connection, new Copy(this.tables.event(), this.tables.waiting(), "attempts, last_error, available_at",
				"attempts - ?, ?, " + this.database.millisFromNow()), rows);
		return this.leased.delete(connection, false, locked.keySet());
	}

	/**
	 * Moves events of one table to the table of dead events.
	 * @return how many were still leased
	 */
	int toDead(Connection connection, boolean waiting, List<FailedEvent> events) {
		Map<Long, FailedEvent> locked = lock(connection, waiting, events);
		each(connection,
				"insert into " + this.tables.dead() + " (sequence, " + EventColumn.MOVED
						+ ", attempts, last_error) select id, " + EventColumn.MOVED + ", attempts, ? from "
						+ this.tables.of(waiting) + " where id = ?",
				map(locked, (event) -> List.of(reason(event), event.leased().row())));
		return this.leased.delete(connection, waiting, locked.keySet());
	}

	/**
	 * Returns a statement that copies ordered events to the table of dead events, without
	 * the condition on the rows.
	 * @param reason an expression
	 */
	static String orderedToDead(OutboxTables tables, String reason) {
		return "insert into " + tables.dead() + " (sequence, key_hash, " + EventColumn.MOVED
				+ ", attempts, last_error) select coalesce(sequence, id), key_hash, " + EventColumn.MOVED
				+ ", attempts, " + reason + " from " + tables.ordered();
	}

	/**
	 * Moves pending events that other programs have inserted for later to the table of
	 * waiting events.
	 * @param above only rows above this one
	 * @return how many were moved
	 */
	int delayedToWaiting(Connection connection, long above, int limit) {
		List<Long> rows = Statements.query(connection,
				"select id from " + this.tables.event() + " where id > ? and claim_id is null and available_at > "
						+ this.database.nowForIndexes() + " order by id limit " + limit + " for update skip locked",
				List.of(above), (row, number) -> row.getLong(1));
		return pendingToWaiting(connection, rows);
	}

	/**
	 * Moves locked rows of pending events to the table of waiting events.
	 * @return how many
	 */
	int pendingToWaiting(Connection connection, List<Long> rows) {
		copyAll(connection, new Copy(this.tables.event(), this.tables.waiting(), "available_at, attempts",
				"available_at, attempts"), rows);
		return this.leased.delete(connection, false, rows);
	}

	/**
	 * Copies locked rows of dead events, due now and without attempts: unordered ones to
	 * the table of waiting events, ordered ones to new rows of the table of ordered
	 * events.
	 */
	void retryDead(Connection connection, List<Long> rows) {
		if (rows.isEmpty()) {
			return;
		}
		String dead = " from " + this.tables.dead() + " where id" + OutboxTables.in(rows) + " and key_hash is ";
		Statements.update(connection,
				"insert into " + this.tables.ordered() + " (key_hash, sequence, " + EventColumn.MOVED
						+ ") select key_hash, sequence, " + EventColumn.MOVED + dead + "not null order by id");
		Copy copy = new Copy(this.tables.dead(), this.tables.waiting(), "attempts, available_at",
				"0, " + this.database.now());
		if (this.toFreeRows) {
			Statements
				.query(connection, "select id, sequence" + dead + "null order by id", List.of(),
						(row, number) -> List.of(row.getLong(1), row.getLong(2)))
				.forEach((row) -> Statements.update(connection,
						copy.sql(freeRow(connection, copy.target(), row.get(1))) + " = ?", row.get(0)));
		}
		else {
			Statements.update(connection, copy.sql("sequence") + OutboxTables.in(rows) + " and key_hash is null");
		}
	}

	private Map<Long, FailedEvent> lock(Connection connection, boolean waiting, List<FailedEvent> events) {
		Map<Long, LeasedEvent> locked = this.leased.lock(connection, waiting,
				events.stream().map(FailedEvent::leased).toList());
		return events.stream()
			.filter((event) -> locked.containsKey(event.leased().row()))
			.collect(Collectors.toMap((event) -> event.leased().row(), Function.identity(), (one, other) -> one,
					LinkedHashMap::new));
	}

	private static Map<Long, List<Object>> map(Map<Long, FailedEvent> events,
			Function<FailedEvent, List<Object>> parameters) {
		Map<Long, List<Object>> mapped = new LinkedHashMap<>();
		events.forEach((row, event) -> mapped.put(row, parameters.apply(event)));
		return mapped;
	}

	private void copy(Connection connection, Copy copy, Map<Long, List<Object>> rows) {
		if (this.toFreeRows) {
			rows.forEach((row, parameters) -> Statements.update(connection,
					copy.sql(freeRow(connection, copy.target(), row)) + " = ?", parameters.toArray()));
		}
		else {
			each(connection, copy.sql("id") + " = ?", rows);
		}
	}

	/**
	 * One by one on MySQL: the MariaDB driver sends batches of inserts in a form in which
	 * MariaDB does not accept a select.
	 */
	private void each(Connection connection, String sql, Map<Long, List<Object>> rows) {
		if (this.database == Database.MYSQL) {
			rows.values().forEach((parameters) -> Statements.update(connection, sql, parameters.toArray()));
		}
		else {
			Statements.updateEach(connection, sql, List.copyOf(rows.values()));
		}
	}

	private void copyAll(Connection connection, Copy copy, List<Long> rows) {
		if (this.toFreeRows) {
			copy(connection, copy, rows.stream().collect(Collectors.toMap(Function.identity(), List::of)));
		}
		else if (!rows.isEmpty()) {
			Statements.update(connection, copy.sql("id") + OutboxTables.in(rows));
		}
	}

	/**
	 * Returns the row itself, or the one after the last row if it is taken.
	 */
	private static String freeRow(Connection connection, String table, long row) {
		String sql = "select max(id) from " + table + " where exists (select 1 from " + table
				+ " taken where taken.id = ?)";
		long last = Statements.query(connection, sql, List.of(row), (found, number) -> found.getLong(1)).get(0);
		return Long.toString((last != 0) ? last + 1 : row);
	}

	/**
	 * Returns the reason as a column can store it: PostgreSQL does not support text with
	 * a NUL.
	 */
	static String reason(FailedEvent event) {
		String reason = event.reason().replace('\0', ' ');
		return (reason.length() <= MAX_REASON) ? reason : reason.substring(0, MAX_REASON);
	}

	/**
	 * A copy of rows with a new state.
	 *
	 * @param columns the columns of the state
	 * @param values their values
	 */
	private record Copy(String source, String target, String columns, String values) {

		/**
		 * Without the condition on the rows.
		 */
		String sql(String row) {
			return "insert into " + this.target + " (id, " + EventColumn.MOVED + ", " + this.columns + ") select " + row
					+ ", " + EventColumn.MOVED + ", " + this.values + " from " + this.source + " where id";
		}

	}

}
