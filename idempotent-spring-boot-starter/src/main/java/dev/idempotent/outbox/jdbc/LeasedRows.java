package dev.idempotent.outbox.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.stream.Collectors;

import dev.idempotent.jdbc.StatementFailures;
import dev.idempotent.outbox.LeasedEvent;

/**
 * Rows of one table that are still held as their holder believes.
 */
final class LeasedRows {

	private final EventDialect dialect;

	private final OutboxTables tables;

	LeasedRows(EventDialect dialect, OutboxTables tables) {
		this.dialect = dialect;
		this.tables = tables;
	}

	/**
	 * Deletes rows that are still held. All are of one table.
	 * @return how many
	 */
	int delete(Connection connection, boolean parked, List<LeasedEvent> events) {
		return (this.dialect == EventDialect.POSTGRESQL) ? deleteAtOnce(connection, parked, events)
				: delete(connection, parked, lock(connection, parked, events).keySet());
	}

	/**
	 * Locks rows that are still held, until the end of the caller's transaction. All are
	 * of one table.
	 * @return by row
	 */
	Map<Long, LeasedEvent> lock(Connection connection, boolean parked, List<LeasedEvent> events) {
		Map<Long, LeasedEvent> believed = events.stream()
			.collect(Collectors.toMap((event) -> event.event().sequence(), (event) -> event, (one, other) -> other));
		String sql = "select id, claim_id from " + this.tables.of(parked) + " where id in (" + list(believed.keySet())
				+ ") order by id for update";
		try (PreparedStatement statement = connection.prepareStatement(sql);
				ResultSet rows = statement.executeQuery()) {
			Map<Long, LeasedEvent> held = new HashMap<>();
			while (rows.next()) {
				LeasedEvent event = believed.get(rows.getLong(1));
				if (event != null && event.claimId().toString().equals(rows.getString(2))) {
					held.put(rows.getLong(1), event);
				}
			}
			return held;
		}
		catch (SQLException ex) {
			throw StatementFailures.translate(sql, ex);
		}
	}

	/**
	 * Deletes locked rows.
	 */
	int delete(Connection connection, boolean parked, Collection<Long> rows) {
		return rows.isEmpty() ? 0
				: execute(connection, "delete from " + this.tables.of(parked) + " where id in (" + list(rows) + ")");
	}

	/**
	 * Makes locked rows available now, as before their claim.
	 */
	int release(Connection connection, boolean parked, Collection<Long> rows) {
		return rows.isEmpty() ? 0
				: execute(connection,
						"update " + this.tables.of(parked)
								+ " set claim_id = null, claimed_by = null, attempts = attempts - 1, available_at = "
								+ this.dialect.now() + " where id in (" + list(rows) + ")");
	}

	private int deleteAtOnce(Connection connection, boolean parked, List<LeasedEvent> events) {
		String sql = EventDialect.UNFLUSHED + " delete from " + this.tables.of(parked)
				+ " e using unnest(?::bigint[], ?::uuid[]) as held (id, claim), unflushed "
				+ "where e.id = held.id and e.claim_id = held.claim";
		try (PreparedStatement statement = connection.prepareStatement(sql)) {
			List<Long> rows = new ArrayList<>();
			List<UUID> claims = new ArrayList<>();
			// In the order in which others lock them.
			events.stream().sorted(Comparator.comparingLong((event) -> event.event().sequence())).forEach((event) -> {
				rows.add(event.event().sequence());
				claims.add(event.claimId());
			});
			statement.setArray(1, connection.createArrayOf("bigint", rows.toArray()));
			statement.setArray(2, connection.createArrayOf("uuid", claims.toArray()));
			return statement.executeUpdate();
		}
		catch (SQLException ex) {
			throw StatementFailures.translate(sql, ex);
		}
	}

	private static int execute(Connection connection, String sql) {
		try (PreparedStatement statement = connection.prepareStatement(sql)) {
			return statement.executeUpdate();
		}
		catch (SQLException ex) {
			throw StatementFailures.translate(sql, ex);
		}
	}

	private static String list(Collection<Long> rows) {
		return rows.stream().sorted().map(String::valueOf).collect(Collectors.joining(", "));
	}

}
