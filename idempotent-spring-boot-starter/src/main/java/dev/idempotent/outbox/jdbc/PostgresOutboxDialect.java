package dev.idempotent.outbox.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.ToLongFunction;
import java.util.stream.Collectors;

import dev.idempotent.jdbc.Database;
import dev.idempotent.jdbc.Statements;
import dev.idempotent.outbox.OutboxTopics;
import dev.idempotent.outbox.jdbc.ClaimedEvent.LockedRows;
import dev.idempotent.transaction.ObservedTransaction;
import dev.idempotent.transaction.PendingChanges;
import dev.idempotent.transaction.TransactionGuard;
import org.jspecify.annotations.Nullable;
import org.springframework.dao.InvalidDataAccessResourceUsageException;
import org.springframework.jdbc.core.PreparedStatementCallback;
import org.springframework.jdbc.core.ResultSetExtractor;

/**
 * PostgreSQL, for which each step of the relay is one statement in one round trip,
 * whatever the number of rows. A transaction is identified by its id, and the system
 * column {@code xmax} of a row shows that a transaction has locked it.
 */
final class PostgresOutboxDialect extends OutboxDialect {

	/**
	 * PostgreSQL would wait without end for a row that an operator has locked.
	 */
	private static final String LIMIT_LOCKS = Statements.limitLocks(MAX_WAIT);

	/**
	 * The tables can be empty for hours and then fill within seconds: a plan that was
	 * made for an empty one must not read a full one. With indexes only, one plan suits
	 * any number of rows; PostgreSQL would plan statements for a few rows each time,
	 * which takes longer than to execute them. Lost claims and deletes only repeat
	 * events.
	 */
	private static final String BY_INDEX = "set_config('enable_seqscan', 'off', true), "
			+ "set_config('enable_bitmapscan', 'off', true), set_config('plan_cache_mode', 'force_generic_plan', true)";

	private static final String SETTINGS = "select " + BY_INDEX + ", set_config('synchronous_commit', 'off', true), "
			+ LIMIT_LOCKS + "; ";

	/**
	 * The same for a statement in a transaction of the application, whose own statements
	 * must not be planned with these settings. What {@link #AS_BEFORE} restores is kept
	 * in settings of the transaction.
	 */
	private static final String KEEP_AND_BY_INDEX = "select set_config('idempotent.seqscan', current_setting('enable_seqscan'), true), "
			+ "set_config('idempotent.bitmapscan', current_setting('enable_bitmapscan'), true), "
			+ "set_config('idempotent.plans', current_setting('plan_cache_mode'), true), " + BY_INDEX;

	private static final String AS_BEFORE = "; select set_config('enable_seqscan', current_setting('idempotent.seqscan'), true), "
			+ "set_config('enable_bitmapscan', current_setting('idempotent.bitmapscan'), true), "
			+ "set_config('plan_cache_mode', current_setting('idempotent.plans'), true)";

	/**
	 * Whether this version of a row was locked by no other transaction than the one that
	 * has written it, such as by an update of a row that it had locked.
	 */
	private static final String UNLOCKED = "(e.xmax = 0 or e.xmax = e.xmin)";

	/**
	 * Whether no attempt of a row has begun, not even one that was not counted: each
	 * release leaves a reason.
	 */
	private static final String NEW = "(e.attempts = 0 and e.last_error is null and " + UNLOCKED + ")";

	/**
	 * A row for {@link #detectsLocks}, which is rolled back.
	 */
	private static final String PROBE = " where lane = ? and id = -1";

	/**
	 * Lets the next attempt of a handler be claimed: the one that is not counted may have
	 * been claimed because another one had ended its process.
	 */
	private static final String RELEASED = "The last attempt is not counted";

	private static final String PLAIN = "select 1 from pg_class where oid = ?::regclass and relkind = 'r' "
			+ "and not exists (select 1 from pg_inherits where inhparent = pg_class.oid)";

	private volatile boolean showsLocks;

	PostgresOutboxDialect(OutboxTables tables) {
		super(Database.POSTGRESQL, tables);
	}

	/**
	 * PostgreSQL rejects all further statements of a transaction that has failed.
	 */
	@Override
	boolean needsMarks() {
		return false;
	}

	/**
	 * A query at SERIALIZABLE would count among the reasons to abort transactions of the
	 * application.
	 */
	@Override
	boolean isSuitable(int isolation) {
		return isolation == Connection.TRANSACTION_READ_COMMITTED;
	}

	@Override
	boolean changesAtOnce() {
		return true;
	}

	@Override
	void limitLocks(Connection connection) {
		Statements.execute(connection, "select " + LIMIT_LOCKS);
	}

	/**
	 * Executes one statement that finds its rows by index: a query, or a change that a
	 * crash of the server may undo.
	 * @param arrays the columns of the {@linkplain #rows rows} that the statement reads
	 * @param result reads what the statement has returned
	 */
	private static <T> T execute(Connection connection, String sql, List<Long[]> arrays,
			PreparedStatementCallback<T> result) {
		boolean single = isSingle(arrays);
		// The settings end with the transaction, which is this call if there is no other.
		try (PreparedStatement statement = connection.prepareStatement(SETTINGS + sql)) {
			int index = 1;
			for (Long[] array : arrays) {
				statement.setObject(index++, single ? array[0] : connection.createArrayOf("bigint", array));
			}
			statement.execute();
			statement.getMoreResults();
			return result.doInPreparedStatement(statement);
		}
		catch (SQLException ex) {
			throw Statements.translate(sql, ex);
		}
	}

	/**
	 * Executes one statement that finds its rows by index in a transaction of the
	 * application, in one round trip.
	 * @param setting a setting for the rest of the transaction, or an empty string
	 * @param parameters an array of numbers is a column of {@linkplain #rows rows}
	 * @param result reads what the statement has returned
	 */
	private static <T> T executeWithin(Connection connection, String setting, String sql, List<Object> parameters,
			PreparedStatementCallback<T> result) {
		return executeAll(connection,
				KEEP_AND_BY_INDEX + (setting.isEmpty() ? "" : ", " + setting) + "; " + sql + AS_BEFORE, parameters,
				result);
	}

	/**
	 * Does the same for the last statement of the transaction, whose settings end with
	 * it.
	 */
	private static <T> T executeLast(Connection connection, String sql, List<Object> parameters,
			PreparedStatementCallback<T> result) {
		return executeAll(connection, "select " + BY_INDEX + "; " + sql, parameters, result);
	}

	private static <T> T executeAll(Connection connection, String all, List<Object> parameters,
			PreparedStatementCallback<T> result) {
		try (PreparedStatement statement = connection.prepareStatement(all)) {
			List<Object> values = new ArrayList<>();
			for (Object parameter : parameters) {
				values.add((parameter instanceof Long[] array) ? connection.createArrayOf("bigint", array) : parameter);
			}
			Statements.bind(statement, values);
			statement.execute();
			statement.getMoreResults();
			return result.doInPreparedStatement(statement);
		}
		catch (SQLException ex) {
			throw Statements.translate(all, ex);
		}
	}

	/**
	 * The rows of the arrays, as a relation. A single row, such as an event that is
	 * delivered at once, takes a tenth less time without arrays.
	 */
	private static String rows(List<Long[]> arrays) {
		boolean single = isSingle(arrays);
		String parameters = String.join(", ", Collections.nCopies(arrays.size(), single ? "?::bigint" : "?::bigint[]"));
		return single ? "(select " + parameters + ")" : "unnest(" + parameters + ")";
	}

	private static boolean isSingle(List<Long[]> arrays) {
		return !arrays.isEmpty() && arrays.get(0).length == 1;
	}

	private static List<Long[]> columns(List<ClaimedEvent> claims) {
		return List.of(longs(claims, ClaimedEvent::lane), longs(claims, ClaimedEvent::id),
				longs(claims, ClaimedEvent::attempts));
	}

	private static List<Long[]> columnsOfHeads(List<QueuedEvent> heads) {
		return List.of(longs(heads, QueuedEvent::lane), longs(heads, QueuedEvent::id),
				longs(heads, QueuedEvent::attempts));
	}

	private static <E> Long[] longs(List<E> elements, ToLongFunction<E> value) {
		return elements.stream().map(value::applyAsLong).toArray(Long[]::new);
	}

	/**
	 * The condition that a row still has the attempts of the third column. Rows are
	 * locked in the given order.
	 */
	private String whereLocked(List<Long[]> rows, String condition, String lock) {
		return " where ctid = any (array(select l.ctid from " + rows(rows)
				+ " c(lane, id, attempts) cross join lateral (select e.ctid from " + tables().event()
				+ " e where e.lane = c.lane and e.id = c.id and e.attempts = c.attempts and " + condition + " " + lock
				+ ") l))";
	}

	@Override
	String isNew() {
		return this.showsLocks ? "case when " + NEW + " then 1 else 0 end" : "0";
	}

	@Override
	String isTraced() {
		return this.showsLocks ? "case when e.attempts = 0 and not " + UNLOCKED + " then 1 else 0 end" : "0";
	}

	@Override
	String bytesOfAlone() {
		return "case when event_key is null then " + BYTES + " else -1 end";
	}

	@Override
	<T> T scan(Connection connection, String sql, ResultSetExtractor<T> result) {
		return execute(connection, sql, List.of(),
				(statement) -> Objects.requireNonNull(result.extractData(statement.getResultSet())));
	}

	@Override
	List<QueuedEvent> heads(Connection connection, List<LaneQuery> lanes, int limit) {
		List<Long[]> rows = List.of(longs(lanes, LaneQuery::lane), longs(lanes, LaneQuery::above));
		return execute(connection,
				"select h.*, (select " + database().epoch(tables().event()) + ") as epoch from " + rows(rows)
						+ " w(lane, above) cross join lateral (" + selectHeads("w.lane", "w.above", limit) + ") h",
				rows, (statement) -> Statements.results(statement, (row, number) -> head(row, row.getString("epoch"))));
	}

	@Override
	boolean readsWithClaim() {
		return true;
	}

	@Override
	List<ClaimedEvent> claimAndRead(Connection connection, List<QueuedEvent> heads, Duration lease, String columns) {
		List<Long[]> rows = columnsOfHeads(heads);
		return execute(connection, claim(rows, lease) + columns, rows,
				(statement) -> Statements.results(statement, OutboxDialect::claimed));
	}

	@Override
	List<QueuedEvent> claim(Connection connection, List<QueuedEvent> heads, Duration lease) {
		List<Long[]> rows = columnsOfHeads(heads);
		Set<List<Long>> claimed = new HashSet<>(
				execute(connection, claim(rows, lease) + "lane, id", rows, (statement) -> Statements.results(statement,
						(row, number) -> List.of(row.getLong("lane"), row.getLong("id")))));
		return heads.stream().filter((head) -> claimed.contains(head.place())).toList();
	}

	private String claim(List<Long[]> rows, Duration lease) {
		return "update " + tables().event() + " set attempts = attempts + 1, last_error = null, due_at = "
				+ after(lease) + whereLocked(rows, isDue() + " = 1", "for update skip locked") + " returning ";
	}

	@Override
	List<ClaimedEvent> read(Connection connection, List<QueuedEvent> heads, String columns) {
		List<Long[]> rows = columnsOfHeads(heads);
		return execute(connection,
				"select r.* from " + rows(rows) + " c(lane, id, attempts) cross join lateral ("
						+ selectClaimed(columns, "c.lane", "c.id", "c.attempts + 1") + " limit 1) r",
				rows, (statement) -> Statements.results(statement, OutboxDialect::claimed));
	}

	@Override
	int change(Connection connection, String change, List<ClaimedEvent> sorted) {
		List<Long[]> rows = columns(sorted);
		return execute(connection, change + whereLocked(rows, "true", "for update"), rows,
				PreparedStatement::getUpdateCount);
	}

	@Override
	String traceOfRelease() {
		return ", last_error = case when topic like '" + OutboxTopics.HANDLERS + ":%' then '" + RELEASED + "' end";
	}

	/**
	 * Locks a new row behind a savepoint, and rolls back everything. Databases that speak
	 * the protocol of PostgreSQL may not have {@code xmax}.
	 */
	@Override
	boolean detectsLocks(Connection connection) {
		long lane = -1 - ThreadLocalRandom.current().nextLong(Long.MAX_VALUE);
		int inserted = Statements.update(connection,
				"insert into " + tables().event()
						+ " (lane, id, event_id, topic, type, payload) values (?, -1, ?, '', '', ?)",
				lane, UUID.randomUUID(), new byte[0]);
		Statements.execute(connection, "savepoint idempotent_lock");
		List<Integer> locked = findProbe(connection, PROBE + " and " + UNLOCKED + " for update", lane);
		Statements.execute(connection, "rollback to savepoint idempotent_lock");
		List<Integer> shown = findProbe(connection, PROBE + " and not " + UNLOCKED, lane);
		Statements.execute(connection, "rollback");
		this.showsLocks = inserted == 1 && locked.size() == 1 && shown.size() == 1;
		return this.showsLocks;
	}

	private List<Integer> findProbe(Connection connection, String condition, long lane) {
		return Statements.query(connection, "select 1 from " + tables().event() + " e" + condition, List.of(lane),
				(row, number) -> number);
	}

	@Override
	@Nullable Object lock(Connection connection, ClaimedEvent claim, Duration longest) {
		List<Evidence> lock = executeWithin(connection, Statements.limitWaits(longest),
				"select txid_current(), " + relation() + " from " + tables().event()
						+ " where lane = ? and id = ? and attempts = ? for update skip locked",
				parameters(claim), (statement) -> Statements.results(statement, (row, number) -> Evidence.of(row, 1)));
		return lock.isEmpty() ? null : lock.get(0);
	}

	@Override
	@Nullable LockedRows lock(Connection connection, List<ClaimedEvent> sorted, Duration longest) {
		List<Long[]> rows = columns(sorted);
		String sql = "select l.lane, l.id, txid_current(), l.relation from " + rows(rows)
				+ " c(lane, id, attempts) cross join lateral (select e.lane, e.id, " + relation() + " as relation from "
				+ tables().event()
				+ " e where e.lane = c.lane and e.id = c.id and e.attempts = c.attempts for update skip locked) l";
		Map<List<Long>, Evidence> locked = executeWithin(connection, Statements.limitWaits(longest), sql,
				List.copyOf(rows),
				(statement) -> Statements.results(statement,
						(row, number) -> Map.entry(List.of(row.getLong(1), row.getLong(2)), Evidence.of(row, 3))))
			.stream()
			.collect(Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue));
		return locked.isEmpty() ? null
				: new LockedRows(sorted.stream().filter((claim) -> locked.containsKey(claim.place())).toList(),
						Evidence.of(locked.values()));
	}

	@Override
	@Nullable LockedRows lockUnclaimed(Connection connection, QueuedEvent head, Duration longest) {
		String sql = "select txid_current(), " + relation() + ", lane, id, attempts + 1 as attempts, " + age()
				+ EventRow.COLUMNS + " from " + tables().event() + " e where lane = ? and id = ? and topic = ? and "
				+ NEW + " and " + isDue() + " = 1 for update skip locked";
		List<LockedRows> locks = executeWithin(connection, Statements.limitWaits(longest), sql,
				List.of(head.lane(), head.id(), head.topic()), (statement) -> Statements.results(statement,
						(row, number) -> new LockedRows(List.of(claimed(row, false)), Evidence.of(row, 1))));
		return locks.isEmpty() ? null : locks.get(0);
	}

	@Override
	int delete(Connection connection, ClaimedEvent claim, Object lock) {
		return delete(connection, " where lane = ? and id = ? and attempts = ?",
				List.of(claim.lane(), claim.id(), claim.storedAttempts()), (Evidence) lock);
	}

	@Override
	int delete(Connection connection, List<ClaimedEvent> claims, Object lock) {
		List<Long[]> rows = columns(claims);
		return delete(connection, whereLocked(rows, "true", "for update"), List.copyOf(rows), (Evidence) lock);
	}

	/**
	 * Callbacks of others can execute a statement behind this one, and a session of JPA
	 * writes its changes with the commit.
	 */
	private int delete(Connection connection, String where, List<Object> parameters, Evidence lock) {
		List<Object> all = new ArrayList<>(parameters);
		all.add(lock.transaction());
		all.add(lock.relations());
		String sql = "delete from " + tables().event() + where + " and txid_current() = ? and " + relation()
				+ " = any(?)";
		return (ObservedTransaction.hasCallbacksOfOthers() || !PendingChanges.sessions().isEmpty())
				? executeWithin(connection, "", sql, all, PreparedStatement::getUpdateCount)
				: executeLast(connection, sql, all, PreparedStatement::getUpdateCount);
	}

	/**
	 * The table of a row, because another search path can lead to a row with the same key
	 * in another schema. A look-alike of PostgreSQL may not have the column.
	 */
	private String relation() {
		return this.showsLocks ? "tableoid::bigint" : "0::bigint";
	}

	@Override
	boolean isCommitted(Connection connection, Object lock) {
		return Statements
			.query(connection, "select txid_status(?)", List.of(((Evidence) lock).transaction()),
					(row, number) -> row.getString(1))
			.contains("committed");
	}

	@Override
	boolean canCommit(Connection connection, Object lock, boolean untouched) {
		return TransactionGuard.canCommit(connection) && (untouched || isTransaction(connection, (Evidence) lock));
	}

	private static boolean isTransaction(Connection connection, Evidence lock) {
		return Statements
			.query(connection, "select coalesce(txid_current_if_assigned() = ?, false)", List.of(lock.transaction()),
					(row, number) -> row.getBoolean(1))
			.contains(true);
	}

	@Override
	void prepareCheck(Connection connection) {
		Statements.execute(connection, "set local lock_timeout = '5s'");
		// The place of a row, by which it is found, is not unique in several tables.
		if (Statements.query(connection, PLAIN, List.of(tables().event()), (row, number) -> number).isEmpty()) {
			throw new InvalidDataAccessResourceUsageException(
					tables().event() + " is a view, or has partitions or child tables");
		}
	}

	@Override
	void requireIncreasingRows(Connection connection) {
		String alter = "Run 'alter table " + tables().event() + " alter column id set ";
		String why = "The sequence of " + tables().event() + ".id does not increase with each insert: ";
		Statements.query(connection,
				"select seqcache, seqincrement, seqcycle from pg_sequence "
						+ "where seqrelid = pg_get_serial_sequence(?, 'id')::regclass",
				List.of(tables().event()), (sequence, number) -> {
					rejectOrder(sequence.getLong(1) > 1,
							why + "each session caches " + sequence.getLong(1) + " of its values", alter + "cache 1'");
					rejectOrder(sequence.getLong(2) < 1, why + "its values decrease", alter + "increment 1'");
					rejectOrder(sequence.getBoolean(3), why + "its values repeat", alter + "no cycle'");
					return true;
				});
	}

	/**
	 * What proves that rows are locked.
	 *
	 * @param transaction the transaction that has locked them
	 * @param relations their tables
	 */
	@SuppressWarnings("ArrayRecordComponent")
	private record Evidence(long transaction, Long[] relations) {

		static Evidence of(ResultSet row, int first) throws SQLException {
			return new Evidence(row.getLong(first), new Long[] { row.getLong(first + 1) });
		}

		static Evidence of(Collection<Evidence> each) {
			return new Evidence(each.iterator().next().transaction(),
					each.stream().map((lock) -> lock.relations()[0]).distinct().toArray(Long[]::new));
		}

	}

}
