package dev.idempotent.outbox.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.stream.Collectors;

import dev.idempotent.jdbc.Database;
import dev.idempotent.jdbc.Statements;
import dev.idempotent.outbox.OrderedOutboxStore.KeyLimits;
import dev.idempotent.outbox.OutboxStore.EventLease;
import dev.idempotent.outbox.OutboxStore.OrderedRow;
import org.jspecify.annotations.Nullable;

/**
 * Claims the first events of keys within the transaction of the caller. The events are
 * read in another transaction, so that a failure to read them does not roll back the
 * claim, which counts the attempt.
 */
final class OrderedClaims {

	private static final String KEYS = ", keys as materialized (select * from "
			+ "unnest(?::bigint[], ?::uuid[], ?::text[], ?::bigint[]) k (hash, claim, owner, millis)), ";

	private final Database database;

	private final String table;

	private final OrderedHeads heads;

	OrderedClaims(Database database, OutboxTables tables) {
		this.database = database;
		this.table = tables.ordered();
		this.heads = new OrderedHeads(database, tables);
	}

	/**
	 * Claims the first events of each key whose head is due and not locked.
	 * @return their rows
	 */
	List<OrderedRow> claim(Connection connection, Map<Long, EventLease> leases, KeyLimits limits) {
		return (this.database == Database.POSTGRESQL) ? claimAtOnce(connection, leases, limits)
				: lockThenUpdate(connection, leases, limits);
	}

	/**
	 * Reads claimed events.
	 * @return by key, in the order of their rows, without those that another claim has
	 * taken in the meantime
	 */
	List<ClaimedRow> read(Connection connection, Map<Long, EventLease> leases, KeyLimits limits,
			List<OrderedRow> claimed) {
		String sql = "select key_hash, id as row_id, claim_id, coalesce(sequence, id) as id, "
				+ EventColumn.readAfterId(limits.attempts()) + " from " + this.table + " e where "
				+ OrderedRows.condition(this.database, claimed) + " order by e.key_hash, e.id";
		return Statements.query(connection, sql, List.of(), (row, number) -> ClaimedRow.of(row))
			.stream()
			.filter((row) -> Objects.requireNonNull(leases.get(row.row().keyHash()))
				.claimId()
				.toString()
				.equals(row.claimId()))
			.toList();
	}

	/**
	 * Locks candidates up to the first one of each key that is locked or not due. The
	 * lateral selects force a search of the index for each row.
	 */
	private String atOnce() {
		String due = "available_at <= " + this.database.now();
		return LeasedRows.UNFLUSHED + KEYS + "heads as materialized (select k.hash, h.attempts from keys k "
				+ "cross join lateral (select attempts, " + due + " as due from " + this.table
				+ " where key_hash = k.hash order by key_hash, id limit 1) h where h.due), "
				+ "found as materialized (select h.hash, f.id from heads h cross join lateral (select id from "
				+ this.table + " where key_hash = h.hash order by key_hash, id "
				+ "limit case when h.attempts >= ? then 1 else ? end) f order by h.hash, f.id), "
				+ "candidates as materialized (select hash, id, row_number() over (partition by hash order by id) as n "
				+ "from found order by hash, id), "
				+ "locked as materialized (select c.hash, c.n, l.* from candidates c cross join lateral (select id, "
				+ "attempts, octet_length(payload) as bytes from " + this.table
				+ " where key_hash = c.hash and id = c.id" + " and " + due + " for update skip locked) l), "
				+ "gapless as (select *, row_number() over w as m, max(attempts) over w as worst from locked "
				+ "window w as (partition by hash order by id rows unbounded preceding)), "
				+ "fitting as materialized (select hash, id from (select hash, id, sum(bytes) over (order by n, hash) - bytes "
				+ "as before from gapless where n = m and (n = 1 or worst < ?)) sized where before < ?) " + "update "
				+ this.table + " e set claim_id = k.claim, claimed_by = k.owner, attempts = e.attempts + 1, "
				+ "available_at = clock_timestamp() + k.millis * interval '1 millisecond' "
				+ "from unflushed, fitting f join keys k on k.hash = f.hash "
				+ "where e.key_hash = f.hash and e.id = f.id returning e.key_hash, e.id";
	}

	private List<OrderedRow> claimAtOnce(Connection connection, Map<Long, EventLease> leases, KeyLimits limits) {
		String sql = atOnce();
		List<Map.Entry<Long, EventLease>> keys = List.copyOf(leases.entrySet());
		try (PreparedStatement statement = connection.prepareStatement(sql)) {
			statement.setArray(1, connection.createArrayOf("bigint", keys.stream().map(Map.Entry::getKey).toArray()));
			statement.setArray(2,
					connection.createArrayOf("uuid", keys.stream().map((key) -> key.getValue().claimId()).toArray()));
			statement.setArray(3,
					connection.createArrayOf("text", keys.stream().map((key) -> key.getValue().owner()).toArray()));
			statement.setArray(4, connection.createArrayOf("bigint",
					keys.stream().map((key) -> key.getValue().duration().toMillis()).toArray()));
			statement.setInt(5, limits.trustedAttempts());
			statement.setInt(6, limits.perKey());
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
			throw Statements.translate(sql, ex);
		}
	}

	private List<OrderedRow> lockThenUpdate(Connection connection, Map<Long, EventLease> leases, KeyLimits limits) {
		List<Long> due = this.heads.read(connection, leases.keySet())
			.entrySet()
			.stream()
			.filter((head) -> head.getValue().due())
			.map(Map.Entry::getKey)
			.sorted()
			.toList();
		List<OrderedRow> candidates = candidates(connection, due, limits.perKey());
		if (candidates.isEmpty()) {
			return List.of();
		}
		List<OrderedRow> fitting = fitting(candidates, lock(connection, candidates), limits);
		update(connection, leases, fitting);
		return fitting;
	}

	private List<OrderedRow> candidates(Connection connection, List<Long> keys, int perKey) {
		String select = "(select key_hash, id from " + this.table + " where key_hash = ? order by key_hash, id limit "
				+ perKey + ")";
		List<OrderedRow> candidates = new ArrayList<>();
		for (int from = 0; from < keys.size(); from += OrderedHeads.BRANCHES) {
			List<Long> some = keys.subList(from, Math.min(keys.size(), from + OrderedHeads.BRANCHES));
			candidates.addAll(
					Statements.query(connection, String.join(" union all ", Collections.nCopies(some.size(), select)),
							some, (row, number) -> new OrderedRow(row.getLong(1), row.getLong(2))));
		}
		return candidates;
	}

	private Map<OrderedRow, Locked> lock(Connection connection, List<OrderedRow> candidates) {
		return Statements
			.query(connection,
					"select key_hash, id, attempts, octet_length(payload), available_at <= " + this.database.now()
							+ " from " + this.table + " where " + OrderedRows
								.condition(this.database, candidates)
							+ " order by key_hash, id for update skip locked",
					List.of(),
					(row, number) -> new Locked(new OrderedRow(row.getLong(1), row.getLong(2)), row.getInt(3),
							row.getLong(4), row.getBoolean(5)))
			.stream()
			.collect(Collectors.toMap(Locked::row, (locked) -> locked));
	}

	/**
	 * Returns the candidates up to the first one of each key that is locked or not due:
	 * first the heads, then the second ones, and so on.
	 */
	private static List<OrderedRow> fitting(List<OrderedRow> candidates, Map<OrderedRow, Locked> locked,
			KeyLimits limits) {
		Map<Integer, List<Locked>> byPosition = new TreeMap<>();
		candidates.stream()
			.sorted(OrderedRows.ORDER)
			.collect(Collectors.groupingBy(OrderedRow::keyHash, TreeMap::new, Collectors.toList()))
			.values()
			.forEach((key) -> {
				int position = 0;
				for (OrderedRow row : key) {
					Locked found = locked.get(row);
					if (found == null || !found.due()
							|| (position > 0 && found.attempts() >= limits.trustedAttempts())) {
						break;
					}
					byPosition.computeIfAbsent(position++, (each) -> new ArrayList<>()).add(found);
					if (found.attempts() >= limits.trustedAttempts()) {
						break;
					}
				}
			});
		List<OrderedRow> fitting = new ArrayList<>();
		long bytes = 0;
		for (Locked each : byPosition.values().stream().flatMap(List::stream).toList()) {
			if (bytes < limits.bytes()) {
				fitting.add(each.row());
				bytes += each.bytes();
			}
		}
		return fitting;
	}

	/**
	 * One statement for all keys whose leases differ only in their claim ids.
	 */
	private void update(Connection connection, Map<Long, EventLease> leases, List<OrderedRow> rows) {
		rows.stream().collect(Collectors.groupingBy((row) -> {
			EventLease lease = Objects.requireNonNull(leases.get(row.keyHash()));
			return List.of(lease.owner(), lease.duration());
		})).values().forEach((some) -> {
			List<Long> keys = some.stream().map(OrderedRow::keyHash).distinct().toList();
			EventLease lease = Objects.requireNonNull(leases.get(keys.get(0)));
			String claims = keys.stream()
				.map((key) -> "when " + key + " then '" + Objects.requireNonNull(leases.get(key)).claimId() + "' ")
				.collect(Collectors.joining("", "case key_hash ", "end"));
			Statements.update(connection,
					"update " + this.table + " set claim_id = " + claims + ", claimed_by = ?, attempts = attempts + 1, "
							+ "available_at = " + this.database.millisFromNow() + " where "
							+ OrderedRows.condition(this.database, some),
					lease.owner(), lease.duration().toMillis());
		});
	}

	/**
	 * A claimed event as read from its row.
	 */
	record ClaimedRow(OrderedRow row, @Nullable String claimId, EventRow stored) {

		private static ClaimedRow of(ResultSet row) throws SQLException {
			return new ClaimedRow(new OrderedRow(row.getLong("key_hash"), row.getLong("row_id")),
					row.getString("claim_id"), EventRow.of(row));
		}

	}

	private record Locked(OrderedRow row, int attempts, long bytes, boolean due) {
	}

}
