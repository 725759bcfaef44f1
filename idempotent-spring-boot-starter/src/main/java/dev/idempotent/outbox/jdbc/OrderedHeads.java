package dev.idempotent.outbox.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;

import dev.idempotent.jdbc.Database;
import dev.idempotent.jdbc.PostgresPlanCache;
import dev.idempotent.jdbc.Statements;
import dev.idempotent.outbox.OrderedOutboxStore.Head;
import dev.idempotent.outbox.OrderedOutboxStore.HeadScan;
import org.jspecify.annotations.Nullable;

/**
 * Reads the first rows of keys, without locks.
 */
final class OrderedHeads {

	/**
	 * How many selects are combined to one statement.
	 */
	static final int BRANCHES = 100;

	private final Database database;

	private final String table;

	OrderedHeads(Database database, OutboxTables tables) {
		this.database = database;
		this.table = tables.ordered();
	}

	/**
	 * Reads the heads of keys, in one statement of PostgreSQL.
	 * @return by key
	 */
	Map<Long, Head> read(Connection connection, Collection<Long> keys) {
		Map<Long, Head> heads = new HashMap<>();
		List<Long> all = keys.stream().distinct().toList();
		int step = (this.database == Database.POSTGRESQL) ? Math.max(1, all.size()) : BRANCHES;
		for (int from = 0; from < all.size(); from += step) {
			List<Long> some = all.subList(from, Math.min(all.size(), from + step));
			heads.putAll((this.database == Database.POSTGRESQL) ? readAtOnce(connection, some)
					: read(connection, select(some.size()), some));
		}
		return heads;
	}

	private Map<Long, Head> readAtOnce(Connection connection, List<Long> keys) {
		String sql = "select h.* from unnest(?::bigint[]) k (hash) cross join lateral (" + head("k.hash") + ") h";
		try (PreparedStatement statement = connection.prepareStatement(sql)) {
			PostgresPlanCache.bypass(statement);
			statement.setArray(1, connection.createArrayOf("bigint", keys.toArray()));
			return heads(statement);
		}
		catch (SQLException ex) {
			throw Statements.translate(sql, ex);
		}
	}

	private Map<Long, Head> read(Connection connection, String sql, List<Long> keys) {
		try (PreparedStatement statement = connection.prepareStatement(sql)) {
			Statements.bind(statement, keys);
			return heads(statement);
		}
		catch (SQLException ex) {
			throw Statements.translate(sql, ex);
		}
	}

	private String select(int keys) {
		return String.join(" union all ", Collections.nCopies(keys, "(" + head("?") + ")"));
	}

	private String head(String key) {
		return "select key_hash, id, claim_id, " + due() + " as due from " + this.table + " where key_hash = " + key
				+ " order by key_hash, id limit 1";
	}

	private String due() {
		return "available_at <= " + this.database.now();
	}

	private static Map<Long, Head> heads(PreparedStatement statement) throws SQLException {
		Map<Long, Head> heads = new HashMap<>();
		try (ResultSet row = statement.executeQuery()) {
			while (row.next()) {
				heads.put(row.getLong("key_hash"),
						new Head(row.getLong("id"), id(row.getString("claim_id")), row.getBoolean("due")));
			}
		}
		return heads;
	}

	private static @Nullable UUID id(@Nullable String text) {
		return (text != null) ? UUID.fromString(text) : null;
	}

	/**
	 * Reads the heads of the next keys. Skips the other rows of each key.
	 */
	HeadScan scan(Connection connection, long after, int limit) {
		List<Scanned> scanned = switch (this.database) {
			case POSTGRESQL -> scanRecursively(connection, after, limit);
			case MYSQL -> scanIndex(connection, after, limit);
			case H2 -> scanOneByOne(connection, after, limit);
		};
		Map<Long, String> due = new LinkedHashMap<>();
		scanned.stream().filter(Scanned::due).forEach((head) -> due.put(head.keyHash(), head.topic()));
		return new HeadScan(due, scanned.isEmpty() ? after : scanned.get(scanned.size() - 1).keyHash(),
				scanned.size() < limit);
	}

	private List<Scanned> scanRecursively(Connection connection, long after, int limit) {
		String sql = "with recursive heads as ((" + next("?", "1") + ") union all select n.* from heads h "
				+ "cross join lateral (" + next("h.key_hash", "h.number + 1") + ") n where h.number < ?) "
				+ "select key_hash, topic, due from heads order by key_hash";
		return Statements.query(connection, sql, List.of(after, (long) limit), (row, number) -> Scanned.of(row));
	}

	private String next(String after, String number) {
		return "select key_hash, topic, " + due() + " as due, " + number + " as number from " + this.table
				+ " where key_hash > " + after + " order by key_hash, id limit 1";
	}

	/**
	 * A loose index scan, or a scan of the index entries of these keys: MySQL does not
	 * use an index for a range that begins at a value of another row.
	 */
	private List<Scanned> scanIndex(Connection connection, long after, int limit) {
		List<Long> rows = Statements.query(connection,
				"select key_hash, min(id) as head from " + this.table + " where key_hash > ? "
						+ "group by key_hash order by key_hash limit " + limit,
				List.of(after), (row, number) -> row.getLong("head"));
		return rows.isEmpty() ? List.of()
				: Statements.query(connection,
						"select key_hash, topic, " + due() + " as due from " + this.table + " where id"
								+ OutboxTables.in(rows) + " order by key_hash",
						List.of(), (row, number) -> Scanned.of(row));
	}

	/**
	 * H2 runs in the same process, usually.
	 */
	private List<Scanned> scanOneByOne(Connection connection, long after, int limit) {
		List<Scanned> heads = new ArrayList<>();
		String sql = next("?", "0");
		long last = after;
		while (heads.size() < limit) {
			List<Scanned> next = Statements.query(connection, sql, List.of(last), (row, number) -> Scanned.of(row));
			if (next.isEmpty()) {
				break;
			}
			heads.addAll(next);
			last = next.get(0).keyHash();
		}
		return heads;
	}

	private record Scanned(long keyHash, String topic, boolean due) {

		static Scanned of(ResultSet row) throws SQLException {
			return new Scanned(row.getLong("key_hash"), row.getString("topic"), row.getBoolean("due"));
		}

	}

}
