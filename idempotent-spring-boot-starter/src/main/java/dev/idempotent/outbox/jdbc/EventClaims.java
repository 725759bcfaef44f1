package dev.idempotent.outbox.jdbc;

import java.sql.Connection;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;

import dev.idempotent.jdbc.Database;
import dev.idempotent.jdbc.Statements;
import dev.idempotent.outbox.OutboxStore.ClaimScope;
import dev.idempotent.outbox.OutboxStore.EventLease;

/**
 * Claims due events within the transaction of the caller: on PostgreSQL with one
 * statement, elsewhere with two. The events are read in another transaction, so that a
 * failure to read them does not roll back the claim, which counts the attempt.
 */
final class EventClaims {

	private final Database database;

	private final OutboxTables tables;

	EventClaims(Database database, OutboxTables tables) {
		this.database = database;
		this.tables = tables;
	}

	/**
	 * Claims events.
	 * @return their rows
	 */
	List<Long> claim(Connection connection, EventLease lease, ClaimScope scope) {
		return (this.database == Database.POSTGRESQL) ? selectAndUpdate(connection, lease, scope)
				: selectThenUpdate(connection, lease, scope);
	}

	/**
	 * Reads claimed events.
	 * @return in the order of their rows, without those that another claim has taken in
	 * the meantime
	 */
	List<EventRow> read(Connection connection, EventLease lease, ClaimScope scope, Collection<Long> claimed) {
		return Statements.query(connection,
				"select id, " + EventColumn.readAfterId(scope.attempts()) + " from " + this.tables.of(scope.waiting())
						+ " where id" + OutboxTables.in(claimed) + " and claim_id = ? order by id",
				List.of(this.database.parameter(lease.claimId())), (row, number) -> EventRow.of(row));
	}

	/**
	 * Returns the last row above another one.
	 * @return the last row, or the given one if there is none
	 */
	long lastRow(Connection connection, long above) {
		String sql = "select id from " + this.tables.event() + " where id > ? order by id desc limit 1";
		List<Long> last = Statements.query(connection, sql, List.of(above), (row, number) -> row.getLong(1));
		return last.isEmpty() ? above : last.get(0);
	}

	private List<Long> selectAndUpdate(Connection connection, EventLease lease, ClaimScope scope) {
		String order = scope.waiting() ? "available_at, id" : "id";
		String sql = LeasedRows.UNFLUSHED + ", due as materialized (" + select(scope)
				+ "), fitting as materialized (select id from (select id, sum(bytes) over (order by " + order
				+ ") - bytes as before from due) sized where before < ?) " + update(scope)
				+ " from unflushed where claimed.id = any (array(select id from fitting)) returning claimed.id";
		List<Object> parameters = parameters(scope);
		parameters.add(scope.bytes());
		parameters.addAll(parameters(lease));
		return Statements.query(connection, sql, parameters, (row, number) -> row.getLong(1));
	}

	private List<Long> selectThenUpdate(Connection connection, EventLease lease, ClaimScope scope) {
		List<Long> fitting = new ArrayList<>();
		long bytes = 0;
		for (Due due : Statements.query(connection, select(scope), parameters(scope),
				(row, number) -> new Due(row.getLong("id"), row.getLong("bytes")))) {
			if (bytes < scope.bytes()) {
				fitting.add(due.row());
				bytes += due.bytes();
			}
		}
		if (!fitting.isEmpty()) {
			Statements.update(connection, update(scope) + " where claimed.id" + OutboxTables.in(fitting),
					parameters(lease).toArray());
		}
		return fitting;
	}

	/**
	 * The length of a payload is known without reading it.
	 */
	private String select(ClaimScope scope) {
		return "select id, octet_length(payload) as bytes, available_at from " + this.tables.of(scope.waiting())
				+ " where " + (scope.waiting() ? "" : "id > ? and ") + "available_at <= "
				+ this.database.nowForIndexes() + " and " + topics(scope) + " order by "
				+ (scope.waiting() ? "available_at" : "id") + " limit ? for update skip locked";
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

	private static List<Object> parameters(ClaimScope scope) {
		List<Object> parameters = new ArrayList<>();
		if (!scope.waiting()) {
			parameters.add(scope.above());
		}
		if (scope.topic() != null) {
			parameters.add(scope.topic());
		}
		else {
			scope.publishers().forEach((publisher) -> parameters.add(publisher + ":%"));
			parameters.addAll(scope.except());
		}
		parameters.add(scope.limit());
		return parameters;
	}

	private String update(ClaimScope scope) {
		return "update " + this.tables.of(scope.waiting()) + " claimed set claim_id = ?, claimed_by = ?, "
				+ "attempts = claimed.attempts + 1, available_at = " + this.database.millisFromNow();
	}

	private List<Object> parameters(EventLease lease) {
		return List.of(this.database.parameter(lease.claimId()), lease.owner(), lease.duration().toMillis());
	}

	private record Due(long row, long bytes) {
	}

}
