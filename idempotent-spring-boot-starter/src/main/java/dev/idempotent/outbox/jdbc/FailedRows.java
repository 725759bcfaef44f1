package dev.idempotent.outbox.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

import dev.idempotent.jdbc.StatementFailures;
import dev.idempotent.outbox.FailedEvent;
import dev.idempotent.outbox.LeasedEvent;
import dev.idempotent.outbox.WaitingEvent;

/**
 * Moves rows of events that could not be delivered, within the transaction of its caller.
 */
final class FailedRows {

	/**
	 * The columns that all tables have and that never change.
	 */
	static final String SAME = "id, event_id, topic, event_key, lane, type, content_type, payload, headers, created_at";

	private static final int MAX_REASON = 1000;

	private final EventDialect dialect;

	private final OutboxTables tables;

	private final LeasedRows held;

	FailedRows(EventDialect dialect, OutboxTables tables, LeasedRows held) {
		this.dialect = dialect;
		this.tables = tables;
		this.held = held;
	}

	/**
	 * Lets events wait. All are of one table.
	 * @return how many were still held
	 */
	int park(Connection connection, boolean parked, List<WaitingEvent> events) {
		List<LeasedEvent> believed = events.stream().map((event) -> event.failed().held()).toList();
		Map<Long, LeasedEvent> locked = this.held.lock(connection, parked, believed);
		String sql = parked ? postpone() : insertWaiting();
		try (PreparedStatement statement = connection.prepareStatement(sql)) {
			for (WaitingEvent event : events) {
				if (locked.containsKey(row(event.failed()))) {
					statement.setString(1, reason(event.failed()));
					statement.setLong(2, event.delay().toMillis());
					statement.setLong(3, row(event.failed()));
					add(statement);
				}
			}
			statement.executeBatch();
		}
		catch (SQLException ex) {
			throw StatementFailures.translate(sql, ex);
		}
		return parked ? locked.size() : this.held.delete(connection, false, locked.keySet());
	}

	/**
	 * Moves events to the dead. All are of one table.
	 * @return how many were still held
	 */
	int deadLetter(Connection connection, boolean parked, List<FailedEvent> events) {
		Map<Long, LeasedEvent> locked = this.held.lock(connection, parked,
				events.stream().map(FailedEvent::held).toList());
		String sql = "insert into " + this.tables.dead() + " (" + SAME + ", attempts, last_error) select " + SAME
				+ ", attempts, ? from " + this.tables.of(parked) + " where id = ?";
		try (PreparedStatement statement = connection.prepareStatement(sql)) {
			for (FailedEvent event : events) {
				if (locked.containsKey(row(event))) {
					statement.setString(1, reason(event));
					statement.setLong(2, row(event));
					add(statement);
				}
			}
			statement.executeBatch();
		}
		catch (SQLException ex) {
			throw StatementFailures.translate(sql, ex);
		}
		return this.held.delete(connection, parked, locked.keySet());
	}

	/**
	 * Moves events to those that wait that another program has inserted for later.
	 */
	int parkDelayed(Connection connection, int limit) {
		String select = "select id from " + this.tables.event() + " where claim_id is null and available_at > "
				+ this.dialect.nowForIndexes() + " order by id limit " + limit + " for update skip locked";
		try (Statement statement = connection.createStatement()) {
			List<Long> rows = new ArrayList<>();
			try (ResultSet found = statement.executeQuery(select)) {
				while (found.next()) {
					rows.add(found.getLong(1));
				}
			}
			if (!rows.isEmpty()) {
				String ids = rows.stream().map(String::valueOf).collect(Collectors.joining(", "));
				statement.executeUpdate("insert into " + this.tables.waiting() + " (" + SAME
						+ ", available_at, attempts) select " + SAME + ", available_at, attempts from "
						+ this.tables.event() + " where id in (" + ids + ")");
			}
			return this.held.delete(connection, false, rows);
		}
		catch (SQLException ex) {
			throw StatementFailures.translate(select, ex);
		}
	}

	/**
	 * The MariaDB driver sends a batch of inserts in a way in which MariaDB takes none
	 * that selects.
	 */
	private void add(PreparedStatement statement) throws SQLException {
		if (this.dialect == EventDialect.MYSQL) {
			statement.executeUpdate();
		}
		else {
			statement.addBatch();
		}
	}

	private String postpone() {
		return "update " + this.tables.waiting() + " set claim_id = null, claimed_by = null, last_error = ?, "
				+ "available_at = " + this.dialect.millisFromNow() + " where id = ?";
	}

	private String insertWaiting() {
		return "insert into " + this.tables.waiting() + " (" + SAME + ", attempts, last_error, available_at) select "
				+ SAME + ", attempts, ?, " + this.dialect.millisFromNow() + " from " + this.tables.event()
				+ " where id = ?";
	}

	private static long row(FailedEvent event) {
		return event.held().event().sequence();
	}

	/**
	 * What a column can hold of a reason: PostgreSQL has no text with a NUL.
	 */
	private static String reason(FailedEvent event) {
		String reason = event.reason().replace('\0', ' ');
		return (reason.length() <= MAX_REASON) ? reason : reason.substring(0, MAX_REASON);
	}

}
