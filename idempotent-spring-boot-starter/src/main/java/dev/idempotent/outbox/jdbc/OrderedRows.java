package dev.idempotent.outbox.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import java.util.stream.Collectors;

import dev.idempotent.jdbc.Database;
import dev.idempotent.jdbc.Statements;
import dev.idempotent.outbox.OutboxStore.FailedEvent;
import dev.idempotent.outbox.OutboxStore.LeasedEvent;
import dev.idempotent.outbox.OutboxStore.OrderedRow;

/**
 * Statements on the rows of ordered events that are still leased by the given claims,
 * within the transaction of the caller. They lock rows in the order of their keys.
 */
final class OrderedRows {

	static final Comparator<OrderedRow> ORDER = Comparator.comparingLong(OrderedRow::keyHash)
		.thenComparingLong(OrderedRow::row);

	private static final String RELEASE = "claim_id = null, claimed_by = null, attempts = attempts - 1, "
			+ "available_at = created_at";

	private static final String ONE = " where key_hash = ? and id = ?";

	private static final String LEASED = "unnest(?::bigint[], ?::bigint[], ?::uuid[]) as leased (hash, id, claim)";

	private static final String PAIRS = " where e.key_hash = leased.hash and e.id = leased.id "
			+ "and e.claim_id = leased.claim";

	private final Database database;

	private final OutboxTables tables;

	private final String table;

	OrderedRows(Database database, OutboxTables tables) {
		this.database = database;
		this.tables = tables;
		this.table = tables.ordered();
	}

	/**
	 * Deletes rows that are still leased.
	 * @return how many
	 */
	int delete(Connection connection, List<LeasedEvent> events) {
		return (this.database == Database.POSTGRESQL) ? atOnce(connection,
				LeasedRows.UNFLUSHED + " delete from " + this.table + " e using unflushed, " + LEASED + PAIRS, events)
				: deleteLocked(connection, lock(connection, events));
	}

	/**
	 * Ends the leases of rows that are still leased and takes back their attempts.
	 * @return how many
	 */
	int release(Connection connection, List<LeasedEvent> events) {
		if (this.database == Database.POSTGRESQL) {
			return atOnce(connection, "update " + this.table + " e set " + RELEASE + " from " + LEASED + PAIRS, events);
		}
		List<OrderedRow> locked = rows(lock(connection, events));
		return locked.isEmpty() ? 0 : Statements.update(connection,
				"update " + this.table + " set " + RELEASE + " where " + condition(this.database, locked));
	}

	/**
	 * Sets when the next attempts of rows that are still leased are due, and why.
	 * @return how many
	 */
	int postpone(Connection connection, List<FailedEvent> events) {
		return update(connection, events, this.database.millisFromNow() + ", attempts = attempts - ?",
				(event) -> List.of(EventMoves.reason(event), event.delay().toMillis(), event.counted() ? 0 : 1,
						event.leased().keyHash(), event.leased().row()));
	}

	/**
	 * Makes rows that are still leased wait for an operator.
	 * @return how many
	 */
	int block(Connection connection, List<FailedEvent> events) {
		return update(connection, events, BlockedRows.never(this.database),
				(event) -> List.of(EventMoves.reason(event), event.leased().keyHash(), event.leased().row()));
	}

	private int update(Connection connection, List<FailedEvent> events, String availableAt,
			Function<FailedEvent, List<Object>> parameters) {
		List<FailedEvent> locked = lockFailed(connection, events);
		if (!locked.isEmpty()) {
			Statements.updateEach(connection, "update " + this.table
					+ " set claim_id = null, claimed_by = null, last_error = ?, available_at = " + availableAt + ONE,
					locked.stream().map(parameters).toList());
		}
		return locked.size();
	}

	/**
	 * Moves rows that are still leased to the dead events.
	 * @return how many
	 */
	int deadLetter(Connection connection, List<FailedEvent> events) {
		List<FailedEvent> locked = lockFailed(connection, events);
		String copy = EventMoves.orderedToDead(this.tables, "?") + ONE;
		// The MariaDB driver sends batches of inserts in a form in which MariaDB does not
		// accept a select.
		locked.forEach((event) -> Statements.update(connection, copy, EventMoves.reason(event),
				event.leased().keyHash(), event.leased().row()));
		return delete(connection, locked.stream().map(FailedEvent::leased).toList());
	}

	private List<FailedEvent> lockFailed(Connection connection, List<FailedEvent> events) {
		Map<LeasedEvent, FailedEvent> failed = events.stream()
			.collect(Collectors.toMap(FailedEvent::leased, Function.identity(), (one, other) -> one));
		return lock(connection, List.copyOf(failed.keySet())).stream()
			.map((event) -> Objects.requireNonNull(failed.get(event)))
			.toList();
	}

	/**
	 * Locks rows that are still leased, until the end of the caller's transaction.
	 * @return in the order of their keys
	 */
	private List<LeasedEvent> lock(Connection connection, List<LeasedEvent> events) {
		Map<OrderedRow, LeasedEvent> believed = events.stream()
			.collect(Collectors.toMap(OrderedRows::row, Function.identity(), (one, other) -> other));
		List<LeasedEvent> leased = new ArrayList<>();
		read(connection, events).forEach((row, claim) -> {
			LeasedEvent event = believed.get(row);
			if (event != null && event.claimId().toString().equals(claim)) {
				leased.add(event);
			}
		});
		return leased;
	}

	/**
	 * Locks rows and reads their claims.
	 */
	private Map<OrderedRow, String> read(Connection connection, List<LeasedEvent> events) {
		if (events.isEmpty()) {
			return Map.of();
		}
		Map<OrderedRow, String> claims = new LinkedHashMap<>();
		Statements
			.query(connection,
					"select key_hash, id, claim_id from " + this.table + " where "
							+ condition(this.database, rows(events)) + " order by key_hash, id for update",
					List.of(),
					(row, number) -> Map.entry(new OrderedRow(row.getLong(1), row.getLong(2)),
							String.valueOf(row.getString(3))))
			.forEach((row) -> claims.put(row.getKey(), row.getValue()));
		return claims;
	}

	private int deleteLocked(Connection connection, List<LeasedEvent> locked) {
		return locked.isEmpty() ? 0 : Statements.update(connection,
				"delete from " + this.table + " where " + condition(this.database, rows(locked)));
	}

	private int atOnce(Connection connection, String sql, List<LeasedEvent> events) {
		try (PreparedStatement statement = connection.prepareStatement(sql)) {
			List<LeasedEvent> sorted = events.stream().sorted(Comparator.comparing(OrderedRows::row, ORDER)).toList();
			statement.setArray(1,
					connection.createArrayOf("bigint", sorted.stream().map(LeasedEvent::keyHash).toArray()));
			statement.setArray(2, connection.createArrayOf("bigint", sorted.stream().map(LeasedEvent::row).toArray()));
			statement.setArray(3,
					connection.createArrayOf("uuid", sorted.stream().map(LeasedEvent::claimId).toArray()));
			return statement.executeUpdate();
		}
		catch (SQLException ex) {
			throw Statements.translate(sql, ex);
		}
	}

	private static List<OrderedRow> rows(List<LeasedEvent> events) {
		return events.stream().map(OrderedRows::row).toList();
	}

	private static OrderedRow row(LeasedEvent event) {
		return new OrderedRow(event.keyHash(), event.row());
	}

	/**
	 * The condition that a row is one of the given ones, by an index.
	 * @param rows at least one
	 */
	static String condition(Database database, Collection<OrderedRow> rows) {
		List<OrderedRow> sorted = rows.stream().sorted(ORDER).toList();
		return switch (database) {
			case MYSQL -> "id" + OutboxTables.in(sorted.stream().map(OrderedRow::row).toList());
			case H2 ->
				"(key_hash, id) in " + join(sorted, (row) -> "(" + row.keyHash() + ", " + row.row() + ")", "(", ")");
			case POSTGRESQL -> "(key_hash, id) in (select * from unnest("
					+ join(sorted, (row) -> Long.toString(row.keyHash()), "'{", "}'::bigint[], ")
					+ join(sorted, (row) -> Long.toString(row.row()), "'{", "}'::bigint[]))");
		};
	}

	private static String join(List<OrderedRow> rows, Function<OrderedRow, String> text, String begin, String end) {
		return rows.stream().map(text).collect(Collectors.joining(", ", begin, end));
	}

}
