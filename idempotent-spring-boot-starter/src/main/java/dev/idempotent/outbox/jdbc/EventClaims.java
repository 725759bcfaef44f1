package dev.idempotent.outbox.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.stream.Collectors;

import dev.idempotent.jdbc.StatementFailures;
import dev.idempotent.outbox.ClaimScope;
import dev.idempotent.outbox.EventLease;

/**
 * Claims due events within the transaction of its caller: on PostgreSQL with one
 * statement, elsewhere with two. What they carry is read afterwards: too much of it must
 * not undo the claim, which counts the attempt.
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
	 * @return their rows
	 */
	List<Long> claim(Connection connection, EventLease lease, ClaimScope scope) {
		return (this.dialect == EventDialect.POSTGRESQL) ? update(connection, lease, scope)
				: lockAndUpdate(connection, lease, scope);
	}

	/**
	 * Reads claimed events.
	 * @return in the order of their rows, without those that another claim has taken
	 * meanwhile
	 */
	List<EventRow> read(Connection connection, EventLease lease, ClaimScope scope, Collection<Long> claimed) {
		String payload = (scope.attempts() < Integer.MAX_VALUE)
				? "case when attempts > " + scope.attempts() + " then null else payload end" : "payload";
		String sql = "select " + EventRow.COLUMNS.replace("payload", payload) + " from "
				+ this.tables.of(scope.parked()) + " where id in (" + list(claimed) + ") and claim_id = ? order by id";
		try (PreparedStatement statement = connection.prepareStatement(sql)) {
			statement.setObject(1, this.dialect.parameter(lease.claimId()));
			List<EventRow> events = new ArrayList<>();
			try (ResultSet rows = statement.executeQuery()) {
				while (rows.next()) {
					events.add(EventRow.of(rows));
				}
			}
			return events;
		}
		catch (SQLException ex) {
			throw StatementFailures.translate(sql, ex);
		}
	}

	/**
	 * The last row that is not below another one.
	 * @return that other one if there is none
	 */
	long lastRow(Connection connection, long above) {
		String sql = "select id from " + this.tables.event() + " where id > ? order by id desc limit 1";
		try (PreparedStatement statement = connection.prepareStatement(sql)) {
			statement.setLong(1, above);
			try (ResultSet row = statement.executeQuery()) {
				return row.next() ? row.getLong(1) : above;
			}
		}
		catch (SQLException ex) {
			throw StatementFailures.translate(sql, ex);
		}
	}

	private List<Long> update(Connection connection, EventLease lease, ClaimScope scope) {
		String order = scope.parked() ? "available_at, id" : "id";
		String sql = EventDialect.UNFLUSHED + ", due as materialized (" + select(scope)
				+ "), fitting as materialized (select id from (select id, sum(bytes) over (order by " + order
				+ ") - bytes as before from due) sized where before < ?) " + update(scope)
				+ " from unflushed where claimed.id = any (array(select id from fitting)) returning claimed.id";
		try (PreparedStatement statement = connection.prepareStatement(sql)) {
			int next = setScope(statement, scope);
			statement.setLong(next, scope.bytes());
			setLease(statement, next + 1, lease);
			List<Long> claimed = new ArrayList<>();
			try (ResultSet rows = statement.executeQuery()) {
				while (rows.next()) {
					claimed.add(rows.getLong(1));
				}
			}
			return claimed;
		}
		catch (SQLException ex) {
			throw StatementFailures.translate(sql, ex);
		}
	}

	private List<Long> lockAndUpdate(Connection connection, EventLease lease, ClaimScope scope) {
		String select = select(scope);
		try (PreparedStatement statement = connection.prepareStatement(select)) {
			setScope(statement, scope);
			List<Long> fitting = new ArrayList<>();
			try (ResultSet rows = statement.executeQuery()) {
				long bytes = 0;
				while (bytes < scope.bytes() && rows.next()) {
					fitting.add(rows.getLong(1));
					bytes += rows.getLong(2);
				}
			}
			return fitting.isEmpty() ? fitting : update(connection, lease, scope, fitting);
		}
		catch (SQLException ex) {
			throw StatementFailures.translate(select, ex);
		}
	}

	private List<Long> update(Connection connection, EventLease lease, ClaimScope scope, List<Long> locked)
			throws SQLException {
		try (PreparedStatement statement = connection
			.prepareStatement(update(scope) + " where claimed.id in (" + list(locked) + ")")) {
			setLease(statement, 1, lease);
			statement.executeUpdate();
			return locked;
		}
	}

	/**
	 * The length of a payload is known without reading it.
	 */
	private String select(ClaimScope scope) {
		return "select id, octet_length(payload) as bytes, available_at from " + this.tables.of(scope.parked())
				+ " where " + (scope.parked() ? "" : "id > ? and ") + "available_at <= " + this.dialect.nowForIndexes()
				+ " and lane is null and " + topics(scope) + " order by " + (scope.parked() ? "available_at" : "id")
				+ " limit ? for update skip locked";
	}

	private static String topics(ClaimScope scope) {
		if (scope.topic() != null) {
			return "topic = ?";
		}
		String publishers = "(" + String.join(" or ", Collections.nCopies(scope.publishers().size(), "topic like ?"))
				+ ")";
		return scope.except().isEmpty() ? publishers : publishers + " and topic not in ("
				+ String.join(", ", Collections.nCopies(scope.except().size(), "?")) + ")";
	}

	private static int setScope(PreparedStatement statement, ClaimScope scope) throws SQLException {
		int next = 1;
		if (!scope.parked()) {
			statement.setLong(next++, scope.above());
		}
		if (scope.topic() != null) {
			statement.setString(next++, scope.topic());
		}
		else {
			for (String publisher : scope.publishers()) {
				statement.setString(next++, publisher + ":%");
			}
			for (String topic : scope.except()) {
				statement.setString(next++, topic);
			}
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

	private static String list(Collection<Long> rows) {
		return rows.stream().sorted().map(String::valueOf).collect(Collectors.joining(", "));
	}

}
