package dev.idempotent.outbox.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Collectors;

import dev.idempotent.jdbc.StatementFailures;
import dev.idempotent.outbox.ClaimScope;
import dev.idempotent.outbox.EventLease;

/**
 * Claims due events within the transaction of its caller: on PostgreSQL with one
 * statement, elsewhere with two.
 */
final class EventClaims {

	private final EventDialect dialect;

	private final OutboxTables tables;

	EventClaims(EventDialect dialect, OutboxTables tables) {
		this.dialect = dialect;
		this.tables = tables;
	}

	/**
	 * Claims events.
	 * @return in the order of their rows, which the database does not promise
	 */
	List<EventRow> claim(Connection connection, EventLease lease, ClaimScope scope) {
		List<EventRow> rows = (this.dialect == EventDialect.POSTGRESQL) ? update(connection, lease, scope)
				: lockAndUpdate(connection, lease, scope);
		rows.sort(Comparator.comparingLong((row) -> row.event().sequence()));
		return rows;
	}

	private List<EventRow> update(Connection connection, EventLease lease, ClaimScope scope) {
		String sql = EventDialect.UNFLUSHED + ", due as materialized (" + select("id", scope) + ") " + update(scope)
				+ " from due, unflushed where due.id = claimed.id returning " + qualified();
		try (PreparedStatement statement = connection.prepareStatement(sql)) {
			int next = setScope(statement, 1, scope);
			setLease(statement, next, lease);
			try (ResultSet rows = statement.executeQuery()) {
				return read(rows, 0);
			}
		}
		catch (SQLException ex) {
			throw StatementFailures.translate(sql, ex);
		}
	}

	private List<EventRow> lockAndUpdate(Connection connection, EventLease lease, ClaimScope scope) {
		String select = select(EventRow.COLUMNS, scope);
		try (PreparedStatement statement = connection.prepareStatement(select)) {
			setScope(statement, 1, scope);
			try (ResultSet rows = statement.executeQuery()) {
				List<EventRow> locked = read(rows, 1);
				if (!locked.isEmpty()) {
					update(connection, lease, scope, locked);
				}
				return locked;
			}
		}
		catch (SQLException ex) {
			throw StatementFailures.translate(select, ex);
		}
	}

	private void update(Connection connection, EventLease lease, ClaimScope scope, List<EventRow> locked)
			throws SQLException {
		String ids = locked.stream()
			.map((row) -> Long.toString(row.event().sequence()))
			.collect(Collectors.joining(", "));
		try (PreparedStatement statement = connection
			.prepareStatement(update(scope) + " where claimed.id in (" + ids + ")")) {
			setLease(statement, 1, lease);
			statement.executeUpdate();
		}
	}

	private String select(String columns, ClaimScope scope) {
		String publishers = scope.publishers()
			.stream()
			.map((publisher) -> "topic like ?")
			.collect(Collectors.joining(" or "));
		return "select " + columns + " from " + this.tables.of(scope.parked()) + " where "
				+ (scope.parked() ? "" : "id > ? and ") + "available_at <= " + this.dialect.nowForIndexes()
				+ " and lane is null and (" + publishers + ") order by " + (scope.parked() ? "available_at" : "id")
				+ " limit ? for update skip locked";
	}

	private static int setScope(PreparedStatement statement, int first, ClaimScope scope) throws SQLException {
		int next = first;
		if (!scope.parked()) {
			statement.setLong(next++, scope.above());
		}
		for (String publisher : scope.publishers()) {
			statement.setString(next++, publisher + ":%");
		}
		statement.setInt(next++, scope.limit());
		return next;
	}

	private String update(ClaimScope scope) {
		return "update " + this.tables.of(scope.parked()) + " claimed set claim_id = ?, claimed_by = ?, "
				+ "attempts = claimed.attempts + 1, available_at = " + this.dialect.millisFromNow();
	}

	private void setLease(PreparedStatement statement, int first, EventLease lease) throws SQLException {
		statement.setObject(first, this.dialect.parameter(lease.claimId()));
		statement.setString(first + 1, lease.owner());
		statement.setLong(first + 2, lease.duration().toMillis());
	}

	private static String qualified() {
		return "claimed." + EventRow.COLUMNS.replace(", ", ", claimed.");
	}

	private static List<EventRow> read(ResultSet rows, int begun) throws SQLException {
		List<EventRow> read = new ArrayList<>();
		while (rows.next()) {
			read.add(EventRow.of(rows, begun));
		}
		return read;
	}

}
