package dev.idempotent.outbox.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

import dev.idempotent.jdbc.Statements;
import dev.idempotent.outbox.OrderedOutboxStore.KeyLimits;
import dev.idempotent.outbox.OutboxStore.EventLease;
import dev.idempotent.outbox.OutboxStore.OrderedRow;

/**
 * The claim of ordered events in one statement of PostgreSQL.
 */
final class PostgresOrderedClaim {

	/**
	 * Locks the heads before the rows behind them: a claim that gets no head must not
	 * keep another claim from the next one. Takes rows up to the first one of each key
	 * that is locked or not due. The lateral selects force a search of the index for each
	 * row.
	 */
	private static final String SQL = LeasedRows.UNFLUSHED + """
			, keys as materialized (
				select * from unnest(?::bigint[], ?::uuid[], ?::text[], ?::bigint[]) k (hash, claim, owner, millis)
			), heads as materialized (
				select k.hash, h.id from keys k cross join lateral (
					select id, available_at <= clock_timestamp() as due from %1$s
					where key_hash = k.hash order by key_hash, id limit 1) h
				where h.due order by k.hash
			), first as materialized (
				select h.hash, h.id, 1::bigint as n, l.* from heads h cross join lateral (
					select attempts, octet_length(payload) as bytes from %1$s
					where key_hash = h.hash and id = h.id and available_at <= clock_timestamp()
					for update skip locked) l
			), behind as materialized (
				select f.hash, b.id, 1 + row_number() over (partition by f.hash order by b.id) as n
				from first f cross join lateral (
					select id from %1$s where key_hash = f.hash and id > f.id order by key_hash, id
					limit case when f.attempts >= ? then 0 else ? end) b
				order by f.hash, b.id
			), next as materialized (
				select b.hash, b.id, b.n, l.* from behind b cross join lateral (
					select attempts, octet_length(payload) as bytes from %1$s
					where key_hash = b.hash and id = b.id and available_at <= clock_timestamp()
					for update skip locked) l
			), numbered as (
				select *, row_number() over earlier as m, max(attempts) over earlier as worst
				from (select * from first union all select * from next) locked
				window earlier as (partition by hash order by id rows unbounded preceding)
			), sized as (
				select hash, id, sum(bytes) over (order by n, hash) - bytes as before
				from numbered where n = m and (n = 1 or worst < ?)
			), fitting as materialized (
				select hash, id from sized where before < ?
			)
			update %1$s e set claim_id = k.claim, claimed_by = k.owner, attempts = e.attempts + 1,
				available_at = clock_timestamp() + k.millis * interval '1 millisecond'
			from unflushed, fitting f join keys k on k.hash = f.hash
			where e.key_hash = f.hash and e.id = f.id returning e.key_hash, e.id""";

	private final String sql;

	private PostgresOrderedClaim(String sql) {
		this.sql = sql;
	}

	/**
	 * Returns the claim for a table.
	 */
	static PostgresOrderedClaim of(String table) {
		return new PostgresOrderedClaim(SQL.formatted(table));
	}

	List<OrderedRow> execute(Connection connection, Map<Long, EventLease> leases, KeyLimits limits) {
		try (PreparedStatement statement = connection.prepareStatement(this.sql)) {
			bind(connection, statement, leases);
			statement.setInt(5, limits.trustedAttempts());
			statement.setInt(6, limits.perKey() - 1);
			statement.setInt(7, limits.trustedAttempts());
			statement.setLong(8, limits.bytes());
			List<OrderedRow> claimed = new ArrayList<>();
			try (ResultSet row = statement.executeQuery()) {
				while (row.next()) {
					claimed.add(new OrderedRow(row.getLong(1), row.getLong(2)));
				}
			}
			return claimed;
		}
		catch (SQLException ex) {
			throw Statements.translate(this.sql, ex);
		}
	}

	private static void bind(Connection connection, PreparedStatement statement, Map<Long, EventLease> leases)
			throws SQLException {
		List<EventLease> values = new ArrayList<>(leases.values());
		statement.setArray(1, connection.createArrayOf("bigint", leases.keySet().toArray()));
		statement.setArray(2, connection.createArrayOf("uuid", values.stream().map(EventLease::claimId).toArray()));
		statement.setArray(3, connection.createArrayOf("text", values.stream().map(EventLease::owner).toArray()));
		statement.setArray(4, connection.createArrayOf("bigint",
				values.stream().map((lease) -> lease.duration().toMillis()).toArray()));
	}

}
