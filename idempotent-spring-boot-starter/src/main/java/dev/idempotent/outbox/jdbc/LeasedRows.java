package dev.idempotent.outbox.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

import dev.idempotent.jdbc.Database;
import dev.idempotent.jdbc.Statements;
import dev.idempotent.outbox.OutboxStore.LeasedEvent;

/**
 * Statements on the rows that are still leased by the given claims.
 */
final class LeasedRows {

	/**
	 * Begins a statement of PostgreSQL whose commit does not wait for the disk. Events
	 * that reappear after a crash of the server are delivered again, as after a crash of
	 * the application.
	 */
	static final String UNFLUSHED = "with unflushed as materialized "
			+ "(select set_config('synchronous_commit', 'off', true))";

	private final Database database;

	private final OutboxTables tables;

	LeasedRows(Database database, OutboxTables tables) {
		this.database = database;
		this.tables = tables;
	}

	/**
	 * Deletes rows that are still leased. All are in one table.
	 * @return how many
	 */
	int delete(Connection connection, boolean waiting, List<LeasedEvent> events) {
		return (this.database == Database.POSTGRESQL) ? deleteAtOnce(connection, waiting, events)
				: delete(connection, waiting, lock(connection, waiting, events).keySet());
	}

	/**
	 * Locks rows that are still leased, until the end of the caller's transaction. All
	 * are in one table.
	 * @return by row
	 */
	Map<Long, LeasedEvent> lock(Connection connection, boolean waiting, List<LeasedEvent> events) {
		return read(connection, waiting, events, " order by id for update");
	}

	/**
	 * Reads rows of pending events that are committed and still leased.
	 * @return by row
	 */
	Map<Long, LeasedEvent> read(Connection connection, List<LeasedEvent> events) {
		return read(connection, false, events, "");
	}

	private Map<Long, LeasedEvent> read(Connection connection, boolean waiting, List<LeasedEvent> events, String lock) {
		Map<Long, LeasedEvent> believed = events.stream()
			.collect(Collectors.toMap(LeasedEvent::row, (event) -> event, (one, other) -> other));
		String sql = "select id, claim_id from " + this.tables.of(waiting) + " where id"
				+ OutboxTables.in(believed.keySet()) + lock;
		Map<Long, LeasedEvent> leased = new HashMap<>();
		Statements
			.query(connection, sql, List.of(),
					(row, number) -> Map.entry(row.getLong(1), String.valueOf(row.getString(2))))
			.forEach((row) -> {
				LeasedEvent event = believed.get(row.getKey());
				if (event != null && event.claimId().toString().equals(row.getValue())) {
					leased.put(row.getKey(), event);
				}
			});
		return leased;
	}

	/**
	 * Deletes locked rows.
	 */
	int delete(Connection connection, boolean waiting, Collection<Long> rows) {
		return rows.isEmpty() ? 0 : Statements.update(connection,
				"delete from " + this.tables.of(waiting) + " where id" + OutboxTables.in(rows));
	}

	/**
	 * Ends the leases of locked rows and takes back their attempts.
	 */
	int release(Connection connection, boolean waiting, Collection<Long> rows) {
		return rows.isEmpty() ? 0
				: Statements.update(connection,
						"update " + this.tables.of(waiting)
								+ " set claim_id = null, claimed_by = null, attempts = attempts - 1, available_at = "
								+ this.database.now() + " where id" + OutboxTables.in(rows));
	}

	private int deleteAtOnce(Connection connection, boolean waiting, List<LeasedEvent> events) {
		String sql = UNFLUSHED + " delete from " + this.tables.of(waiting)
				+ " e using unnest(?::bigint[], ?::uuid[]) as leased (id, claim), unflushed "
				+ "where e.id = leased.id and e.claim_id = leased.claim";
		try (PreparedStatement statement = connection.prepareStatement(sql)) {
			// In the order in which other statements lock them.
			List<LeasedEvent> sorted = events.stream().sorted(Comparator.comparingLong(LeasedEvent::row)).toList();
			Object[] rows = sorted.stream().map(LeasedEvent::row).toArray();
			Object[] claims = sorted.stream().map(LeasedEvent::claimId).toArray();
			statement.setArray(1, connection.createArrayOf("bigint", rows));
			statement.setArray(2, connection.createArrayOf("uuid", claims));
			return statement.executeUpdate();
		}
		catch (SQLException ex) {
			throw Statements.translate(sql, ex);
		}
	}

}
