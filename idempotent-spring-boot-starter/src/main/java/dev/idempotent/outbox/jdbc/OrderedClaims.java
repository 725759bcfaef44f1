package dev.idempotent.outbox.jdbc;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

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
		return (this.database == Database.POSTGRESQL)
				? PostgresOrderedClaim.of(this.table).execute(connection, leases, limits)
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
	 * Locks the heads before the rows behind them: a claim that gets no head must not
	 * keep another claim from the next one.
	 */
	private List<OrderedRow> lockThenUpdate(Connection connection, Map<Long, EventLease> leases, KeyLimits limits) {
		List<OrderedRow> due = this.heads.read(connection, leases.keySet())
			.entrySet()
			.stream()
			.filter((head) -> head.getValue().due())
			.map((head) -> new OrderedRow(head.getKey(), head.getValue().row()))
			.sorted(OrderedRows.ORDER)
			.toList();
		List<OrderedRow> heads = lock(connection, due).values().stream().filter(Locked::due).map(Locked::row).toList();
		List<OrderedRow> candidates = fromEach(connection, heads, limits.perKey());
		List<OrderedRow> fitting = fitting(candidates, lock(connection, candidates), limits);
		update(connection, leases, fitting);
		return fitting;
	}

	/**
	 * Reads the first rows of keys, beginning with the given ones.
	 */
	private List<OrderedRow> fromEach(Connection connection, List<OrderedRow> heads, int perKey) {
		String select = "(select key_hash, id from " + this.table
				+ " where key_hash = ? and id >= ? order by key_hash, id limit " + perKey + ")";
		List<OrderedRow> rows = new ArrayList<>();
		for (int from = 0; from < heads.size(); from += OrderedHeads.BRANCHES) {
			List<OrderedRow> some = heads.subList(from, Math.min(heads.size(), from + OrderedHeads.BRANCHES));
			rows.addAll(
					Statements.query(connection, String.join(" union all ", Collections.nCopies(some.size(), select)),
							some.stream().flatMap((head) -> Stream.of(head.keyHash(), head.row())).toList(),
							(row, number) -> new OrderedRow(row.getLong(1), row.getLong(2))));
		}
		return rows;
	}

	private Map<OrderedRow, Locked> lock(Connection connection, List<OrderedRow> candidates) {
		return candidates.isEmpty() ? Map.of() : Statements
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
			return new Holder(lease.owner(), lease.duration());
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

	private record Holder(String owner, Duration duration) {
	}

	private record Locked(OrderedRow row, int attempts, long bytes, boolean due) {
	}

}
