package dev.idempotent.outbox.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.ToLongFunction;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import javax.sql.DataSource;

import dev.idempotent.encryption.PayloadEncryption;
import dev.idempotent.jdbc.Database;
import dev.idempotent.jdbc.Statements;
import dev.idempotent.outbox.OutboxTopics;
import dev.idempotent.outbox.Outcome;
import dev.idempotent.outbox.SerializedEvent;
import dev.idempotent.outbox.jdbc.EventInsert.NewRow;
import dev.idempotent.transaction.ObservedTransaction;
import dev.idempotent.transaction.OwnTransactions;
import dev.idempotent.transaction.PendingChanges;
import dev.idempotent.transaction.TransactionGuard;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.dao.DataAccessException;
import org.springframework.dao.InvalidDataAccessResourceUsageException;
import org.springframework.dao.PessimisticLockingFailureException;
import org.springframework.jdbc.core.RowMapper;
import org.springframework.util.Assert;

/**
 * The table of events and all statements of their delivery. A row is its own lease:
 * {@code attempts} is the fencing token, and {@code due_at} the end of the lease or of a
 * backoff. The marks and the appends participate in the transaction of the calling
 * thread; each other method commits on its own. Rows are locked in the order of the
 * primary key. Failures are {@link org.springframework.dao.DataAccessException}s.
 */
public class EventTable {

	private static final Comparator<ClaimedEvent> ORDER = Comparator.comparingLong(ClaimedEvent::lane)
		.thenComparingLong(ClaimedEvent::id);

	/**
	 * How many rows one statement reads by {@code union all}.
	 */
	private static final int UNION = 50;

	/**
	 * Claims of more bytes than this commit before payloads are read: a process that dies
	 * of their size has counted the attempts.
	 */
	public static final long READ_WITH_CLAIM = 1_000_000;

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
	 * A row for {@link #showsLocks()}, which is rolled back.
	 */
	private static final String PROBE = " where lane = ? and id = -1";

	/**
	 * Lets the next attempt of a handler be claimed: the one that is not counted may have
	 * been claimed because another one had ended its process.
	 */
	private static final String RELEASED = "The last attempt is not counted";

	private static final String BYTES = "octet_length(e.payload) + octet_length(e.headers)";

	/**
	 * Whether the last attempt of a row that was counted has ended, as 1 or 0.
	 */
	private static final String INTERRUPTED = "case when e.attempts > 0 and e.due_at is not null "
			+ "and e.last_error is null then 1 else 0 end";

	private static final Logger logger = LoggerFactory.getLogger(EventTable.class);

	private final OutboxDatabase database;

	private final OutboxTables tables;

	private final EventEncryption encryption;

	private volatile @Nullable Boolean showsLocks;

	/**
	 * Creates access to tables that a script in {@code dev/idempotent/schema} has
	 * created.
	 * @param transactions own transactions on the data source of the application's
	 * @param tablePrefix the common prefix of the names of the tables
	 * @param encryption how payloads are protected
	 */
	public EventTable(OwnTransactions transactions, String tablePrefix, PayloadEncryption encryption) {
		this.database = new OutboxDatabase(transactions);
		this.tables = new OutboxTables(tablePrefix);
		this.encryption = new EventEncryption(encryption);
	}

	/**
	 * The key under which transactions bind their resource to the thread.
	 * @return the data source
	 */
	public DataSource transactionResource() {
		return this.database.dataSource();
	}

	/**
	 * Inserts a mark into the transaction of the calling thread, if the database can roll
	 * back all of its work and go on in another one, as MySQL and H2 do to break a
	 * deadlock. PostgreSQL rejects all further statements of such a transaction.
	 * @return the mark, or {@code null} if the database cannot
	 */
	public @Nullable UUID mark() {
		Database kind = this.database.join(this.database::kind);
		if (kind == Database.POSTGRESQL) {
			return null;
		}
		UUID mark = UUID.randomUUID();
		int inserted = inserting((connection) -> Statements.update(connection,
				"insert into " + this.tables.transaction() + " (id) values (?)", kind.parameter(mark)));
		Assert.state(inserted == 1, "A mark was not inserted");
		return mark;
	}

	/**
	 * Deletes a mark in the transaction of the calling thread.
	 * @param mark as inserted
	 * @return {@code false} if it was no longer there, so that what the transaction did
	 * before may have been rolled back
	 */
	public boolean unmark(UUID mark) {
		return this.database.join((connection) -> Statements.update(connection,
				"delete from " + this.tables.transaction() + " where id = ?",
				this.database.kind(connection).parameter(mark))) == 1;
	}

	/**
	 * Inserts events in the transaction of the calling thread, in this order, right
	 * before its commit. Events for later go to the table of delayed events.
	 * @param events without rows yet
	 * @return the rows that can be delivered after the commit, in the same order
	 */
	public List<Row> append(List<NewEvent> events) {
		List<SerializedEvent> stored = this.encryption.encrypt(events.stream().map(NewEvent::event).toList());
		Instant now = Instant.now();
		List<NewRow> due = new ArrayList<>();
		List<NewRow> delayed = new ArrayList<>();
		for (int i = 0; i < stored.size(); i++) {
			NewRow row = row(events.get(i), stored.get(i), now);
			((row.delayMillis() > 0) ? delayed : due).add(row);
		}
		return inserting((connection) -> {
			Database kind = this.database.kind(connection);
			new EventInsert(kind, this.tables.delayed(), true).insert(connection, delayed);
			List<Long> ids = new EventInsert(kind, this.tables.event(), false).insert(connection, due);
			List<Row> rows = new ArrayList<>();
			for (int i = 0; i < ids.size(); i++) {
				rows.add(due.get(i).appended(ids.get(i)));
			}
			return rows;
		});
	}

	private static NewRow row(NewEvent event, SerializedEvent stored, Instant now) {
		long lane = LaneHash.of(stored.topic(), event.ordered() ? stored.key() : null);
		boolean delayed = !event.ordered() && event.availableAt() != null && event.availableAt().isAfter(now);
		// In whole milliseconds, because the database would drop a part of one.
		return new NewRow(lane, stored, event.ordered(),
				delayed ? Duration.between(now, event.availableAt()).plusNanos(999_999).toMillis() : 0);
	}

	private <T> T inserting(Function<Connection, T> insert) {
		try {
			return this.database.join(insert);
		}
		catch (InvalidDataAccessResourceUsageException ex) {
			throw new InvalidDataAccessResourceUsageException(
					"No event was appended: " + this.tables.missing() + ". " + OutboxTables.howToCreate(), ex);
		}
	}

	/**
	 * Reads the first rows of lanes, each lane in one snapshot, which shows committed
	 * rows only.
	 * @param looks each lane once, in any order
	 * @param limit how many rows of each lane
	 * @return in the order of lanes and rows
	 */
	public List<QueuedEvent> heads(List<LaneQuery> looks, int limit) {
		boolean postgres = this.database.kind() == Database.POSTGRESQL;
		String sql = "select e.lane, e.id, e.attempts, e.topic, e.event_key, " + BYTES + " as bytes, " + isDue()
				+ " as is_due, " + INTERRUPTED + " as interrupted, " + isNew() + " as is_new, " + isTraced()
				+ " as traced from " + this.tables.event()
				+ (postgres ? " e where e.lane = w.lane and e.id > w.above " : " e where e.lane = ? and e.id > ? ")
				+ "order by e.lane, e.id limit " + limit;
		List<Long[]> rows = List.of(longs(looks, LaneQuery::lane), longs(looks, LaneQuery::above));
		List<QueuedEvent> heads = postgres
				? this.database.runAtOnce(
						"select h.*, (select " + Database.POSTGRESQL.epoch(this.tables.event()) + ") as epoch from "
								+ OutboxDatabase.rows(rows) + " w(lane, above) cross join lateral (" + sql + ") h",
						rows,
						(statement) -> Statements.results(statement,
								(row, number) -> head(row, row.getString("epoch"))))
				: union(looks, sql, (look) -> List.of(look.lane(), look.above()), (row, number) -> head(row, null));
		heads.sort(Comparator.comparingLong(QueuedEvent::lane).thenComparingLong(QueuedEvent::id));
		return heads;
	}

	private static QueuedEvent head(ResultSet row, @Nullable String epoch) throws SQLException {
		return new QueuedEvent(row.getLong("lane"), row.getLong("id"), row.getInt("attempts"), row.getString("topic"),
				row.getString("event_key"), row.getLong("bytes"), row.getInt("is_due") == 1,
				row.getInt("interrupted") == 1, row.getInt("is_new") == 1, row.getInt("traced") == 1, epoch);
	}

	/**
	 * Claims rows that are as they were read, and still due: counts an attempt, and
	 * leases them.
	 * @param heads in the order of lanes and rows
	 * @param lease begins now
	 * @param attempts an event with more attempts than this comes without its payload and
	 * headers
	 * @return the claimed rows in the same order, also those that cannot be delivered;
	 * the others are gone, or belong to another claim
	 */
	public List<ClaimedEvent> claim(List<QueuedEvent> heads, Duration lease, int attempts) {
		if (heads.isEmpty()) {
			return List.of();
		}
		String columns = "lane, id, attempts, " + age() + EventRow.columnsUpTo(attempts);
		List<ClaimedEvent> claims;
		if (this.database.kind() == Database.POSTGRESQL) {
			claims = claimAtOnce(heads, lease, columns);
		}
		else {
			List<QueuedEvent> claimed = this.database
				.runInTransaction((connection) -> claimEach(connection, heads, lease));
			claims = read(claimed, columns);
		}
		// Without a connection: a cipher may need time, or one of its own.
		return claims.stream()
			.map((claim) -> (claim.attempts() <= attempts) ? decrypt(claim) : claim)
			.sorted(ORDER)
			.toList();
	}

	private String age() {
		return this.database.kind().millisSince("created_at") + " as age, ";
	}

	private ClaimedEvent decrypt(ClaimedEvent claim) {
		return ClaimedEvent.of(claim.lane(),
				this.encryption.decrypt(new EventRow(claim.event(), claim.undeliverable())), claim.age(),
				claim.counted());
	}

	private static ClaimedEvent claim(ResultSet row, int number) throws SQLException {
		return ClaimedEvent.of(row.getLong("lane"), EventRow.of(row), Duration.ofMillis(row.getLong("age")), true);
	}

	private List<ClaimedEvent> claimAtOnce(List<QueuedEvent> heads, Duration lease, String columns) {
		boolean reads = heads.stream().mapToLong(QueuedEvent::bytes).sum() <= READ_WITH_CLAIM;
		List<Long[]> rows = List.of(longs(heads, QueuedEvent::lane), longs(heads, QueuedEvent::id),
				longs(heads, QueuedEvent::attempts));
		String sql = "update " + this.tables.event() + " set attempts = attempts + 1, last_error = null, due_at = "
				+ after(lease) + whereLocked(rows, isDue() + " = 1", "for update skip locked") + " returning "
				+ (reads ? columns : "lane, id");
		if (reads) {
			return this.database.runAtOnce(sql, rows, (statement) -> Statements.results(statement, EventTable::claim));
		}
		Set<List<Long>> claimed = new HashSet<>(this.database.runAtOnce(sql, rows, (statement) -> Statements
			.results(statement, (row, number) -> List.of(row.getLong("lane"), row.getLong("id")))));
		return read(heads.stream().filter((head) -> claimed.contains(head.place())).toList(), columns);
	}

	/**
	 * The condition that a row still has the attempts of the third column. Rows are
	 * locked in the given order.
	 */
	private String whereLocked(List<Long[]> rows, String condition, String lock) {
		return " where ctid = any (array(select l.ctid from " + OutboxDatabase.rows(rows)
				+ " c(lane, id, attempts) cross join lateral (select e.ctid from " + this.tables.event()
				+ " e where e.lane = c.lane and e.id = c.id and e.attempts = c.attempts and " + condition + " " + lock
				+ ") l))";
	}

	/**
	 * The transaction of a handler can lock its row for longer than the lease. MySQL
	 * waits for it even if the row, which was read before, has had an attempt since.
	 */
	private boolean isUnlocked(Connection connection, QueuedEvent head) {
		boolean ofHandler = OutboxTopics.publisher(head.topic()).equals(OutboxTopics.HANDLERS);
		if (head.attempts() == 0 && !(ofHandler && this.database.kind(connection) == Database.MYSQL)) {
			return true;
		}
		return !Statements
			.query(connection,
					"select id from " + this.tables.event() + " where lane = ? and id = ? for update skip locked",
					List.of(head.lane(), head.id()), (row, number) -> number)
			.isEmpty();
	}

	private List<QueuedEvent> claimEach(Connection connection, List<QueuedEvent> all, Duration lease) {
		List<QueuedEvent> heads = all.stream().filter((head) -> isUnlocked(connection, head)).toList();
		if (heads.isEmpty()) {
			return heads;
		}
		String sql = "update " + this.tables.event() + " e set attempts = attempts + 1, last_error = null, due_at = "
				+ after(lease) + " where lane = ? and id = ? and attempts = ? and " + isDue() + " = 1";
		try (PreparedStatement statement = connection.prepareStatement(sql)) {
			for (QueuedEvent head : heads) {
				Statements.bind(statement, parameters(head));
				statement.addBatch();
			}
			int[] counts = statement.executeBatch();
			if (Arrays.stream(counts).anyMatch((count) -> count == Statement.SUCCESS_NO_INFO)) {
				// Drivers of MySQL can be set to send batches without counts.
				connection.rollback();
				for (int i = 0; i < counts.length; i++) {
					Statements.bind(statement, parameters(heads.get(i)));
					counts[i] = statement.executeUpdate();
				}
			}
			return IntStream.range(0, counts.length).filter((i) -> counts[i] == 1).mapToObj(heads::get).toList();
		}
		catch (SQLException ex) {
			throw Statements.translate(sql, ex);
		}
	}

	private static List<Object> parameters(QueuedEvent head) {
		return List.of(head.lane(), head.id(), head.attempts());
	}

	/**
	 * Reads rows that were claimed as they had been read.
	 */
	private List<ClaimedEvent> read(List<QueuedEvent> heads, String columns) {
		String sql = "select " + columns + " from " + this.tables.event()
				+ " e where e.lane = %s and e.id = %s and e.attempts = %s";
		if (this.database.kind() != Database.POSTGRESQL) {
			return union(heads, sql.formatted("?", "?", "?"),
					(head) -> List.of(head.lane(), head.id(), head.attempts() + 1), EventTable::claim);
		}
		List<Long[]> rows = List.of(longs(heads, QueuedEvent::lane), longs(heads, QueuedEvent::id),
				longs(heads, QueuedEvent::attempts));
		return this.database.runAtOnce(
				"select r.* from " + OutboxDatabase.rows(rows) + " c(lane, id, attempts) cross join lateral ("
						+ sql.formatted("c.lane", "c.id", "c.attempts + 1") + " limit 1) r",
				rows, (statement) -> Statements.results(statement, EventTable::claim));
	}

	/**
	 * Deletes rows whose publication was confirmed.
	 * @param claims in any order
	 * @return how many were still claimed by these attempts
	 */
	public int delete(List<ClaimedEvent> claims) {
		String sql = "delete from " + this.tables.event();
		int deleted = settle(sql, claims);
		// A statement of PostgreSQL misses what another transaction has changed
		// meanwhile.
		return (deleted == claims.size()) ? deleted : deleted + settle(sql, claims);
	}

	/**
	 * Locks a claimed row in the transaction of the calling thread, which must not have
	 * done anything else. Until it ends, no other instance can claim the row.
	 * @param claim a claimed row
	 * @param longest how long PostgreSQL keeps the transaction without hearing of it, and
	 * lets it wait for a lock
	 * @return the evidence for {@link #deleteInTransaction}, or {@code null} if the row
	 * is locked, or no longer claimed by these attempts
	 */
	public @Nullable Object lockInTransaction(ClaimedEvent claim, Duration longest) {
		String row = " from " + this.tables.event()
				+ " where lane = ? and id = ? and attempts = ? for update skip locked";
		if (this.database.join(this.database::kind) != Database.POSTGRESQL) {
			return this.database
				.join((connection) -> Statements.query(connection, "select id" + row, parameters(claim),
						(result, number) -> number))
				.isEmpty() ? null : mark();
		}
		List<PostgresLock> lock = this.database.joinAtOnce(Statements.limitWaits(longest),
				"select txid_current(), " + relation() + row, parameters(claim),
				(statement) -> Statements.results(statement, (result, number) -> PostgresLock.of(result, 1)));
		return lock.isEmpty() ? null : lock.get(0);
	}

	/**
	 * Locks claimed rows in the transaction of the calling thread, which must not have
	 * done anything else. Until it ends, no other instance can claim them.
	 * @param claims claimed rows
	 * @param longest how long PostgreSQL keeps the transaction without hearing of it, and
	 * lets it wait for a lock
	 * @return those that are still claimed by these attempts and not locked, or
	 * {@code null} if none is
	 */
	public @Nullable Lock lockInTransaction(List<ClaimedEvent> claims, Duration longest) {
		List<ClaimedEvent> sorted = claims.stream().sorted(ORDER).toList();
		if (sorted.size() == 1) {
			Object evidence = lockInTransaction(sorted.get(0), longest);
			return (evidence != null) ? new Lock(sorted, evidence) : null;
		}
		if (this.database.join(this.database::kind) != Database.POSTGRESQL) {
			String sql = "select id from " + this.tables.event()
					+ " where lane = ? and id = ? and attempts = ? for update skip locked";
			List<ClaimedEvent> locked = this.database.join((connection) -> sorted.stream()
				.filter((claim) -> !Statements.query(connection, sql, parameters(claim), (row, number) -> number)
					.isEmpty())
				.toList());
			return locked.isEmpty() ? null : new Lock(locked, Objects.requireNonNull(mark()));
		}
		List<Long[]> rows = columns(sorted);
		String sql = "select l.lane, l.id, txid_current(), l.relation from " + OutboxDatabase.rows(rows)
				+ " c(lane, id, attempts) cross join lateral (select e.lane, e.id, " + relation() + " as relation from "
				+ this.tables.event()
				+ " e where e.lane = c.lane and e.id = c.id and e.attempts = c.attempts for update skip locked) l";
		Map<List<Long>, PostgresLock> locked = this.database
			.joinAtOnce(Statements.limitWaits(longest), sql, List.copyOf(rows),
					(statement) -> Statements.results(statement,
							(row, number) -> Map.entry(List.of(row.getLong(1), row.getLong(2)),
									PostgresLock.of(row, 3))))
			.stream()
			.collect(Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue));
		return locked.isEmpty() ? null
				: new Lock(sorted.stream().filter((claim) -> locked.containsKey(claim.place())).toList(),
						PostgresLock.of(locked.values()));
	}

	/**
	 * In the transaction of the calling thread, which must not have done anything else,
	 * locks and reads a row that was never claimed. Until the transaction ends, no other
	 * instance can claim the row. Only for a database that {@linkplain #showsLocks shows
	 * locks}: if the transaction does not commit, it cannot be locked again without a
	 * claim.
	 * @param head the first row of its lane, as it was read
	 * @param longest how long PostgreSQL keeps the transaction without hearing of it, and
	 * lets it wait for a lock
	 * @return the event, or {@code null} if the row is gone, not due, of another topic,
	 * locked, or has had an attempt; the transaction can only be rolled back then
	 */
	public @Nullable Lock lockUnclaimed(QueuedEvent head, Duration longest) {
		String sql = "select txid_current(), " + relation() + ", lane, id, attempts + 1 as attempts, " + age()
				+ EventRow.COLUMNS + " from " + this.tables.event() + " e where lane = ? and id = ? and topic = ? and "
				+ NEW + " and " + isDue() + " = 1 for update skip locked";
		List<Object> parameters = List.of(head.lane(), head.id(), head.topic());
		try {
			List<Lock> locks = this.database.joinAtOnce(Statements.limitWaits(longest), sql, parameters,
					(statement) -> Statements.results(statement, EventTable::unclaimed));
			return locks.isEmpty() ? null
					: new Lock(List.of(decrypt(locks.get(0).claims().get(0))), locks.get(0).evidence());
		}
		catch (PessimisticLockingFailureException ex) {
			logger.debug("Another transaction has changed the row since the snapshot of this one", ex);
			return null;
		}
	}

	private static Lock unclaimed(ResultSet row, int number) throws SQLException {
		ClaimedEvent claim = ClaimedEvent.of(row.getLong("lane"), EventRow.of(row),
				Duration.ofMillis(row.getLong("age")), false);
		return new Lock(List.of(claim), PostgresLock.of(row, 1));
	}

	/**
	 * Returns whether a row shows that a transaction has locked it, and did not commit:
	 * in its system column {@code xmax}, which databases that speak the protocol of
	 * PostgreSQL may not have. Asked once.
	 * @return {@code false} if an attempt that leaves nothing else behind cannot be known
	 */
	public boolean showsLocks() {
		Boolean known = this.showsLocks;
		if (known == null) {
			known = this.database.kind() == Database.POSTGRESQL && findsLock();
			this.showsLocks = known;
		}
		return known;
	}

	private boolean findsLock() {
		try {
			return this.database.runOnce(this::findsLock);
		}
		catch (DataAccessException ex) {
			if (Statements.isPassing(ex)) {
				throw ex;
			}
			logger.info("Events of handlers are claimed before they are handled, which takes longer: {}",
					ex.getMostSpecificCause().getMessage());
			return false;
		}
	}

	/**
	 * Locks a new row behind a savepoint, and rolls back everything.
	 */
	private boolean findsLock(Connection connection) {
		long lane = -1 - ThreadLocalRandom.current().nextLong(Long.MAX_VALUE);
		int inserted = Statements.update(connection,
				"insert into " + this.tables.event()
						+ " (lane, id, event_id, topic, type, payload) values (?, -1, ?, '', '', ?)",
				lane, UUID.randomUUID(), new byte[0]);
		Statements.execute(connection, "savepoint idempotent_lock");
		List<Integer> locked = findProbe(connection, PROBE + " and " + UNLOCKED + " for update", lane);
		Statements.execute(connection, "rollback to savepoint idempotent_lock");
		List<Integer> shown = findProbe(connection, PROBE + " and not " + UNLOCKED, lane);
		Statements.execute(connection, "rollback");
		return inserted == 1 && locked.size() == 1 && shown.size() == 1;
	}

	private List<Integer> findProbe(Connection connection, String condition, long lane) {
		return Statements.query(connection, "select 1 from " + this.tables.event() + " e" + condition, List.of(lane),
				(row, number) -> number);
	}

	/**
	 * Deletes a row that the transaction of the calling thread has locked, if it is still
	 * the same one: it has not failed, and neither the database nor other code has ended
	 * it and gone on in another one.
	 * @param claim the row
	 * @param lock the evidence of its lock
	 * @return {@code false} if it is another transaction, or another row
	 */
	public boolean deleteInTransaction(ClaimedEvent claim, Object lock) {
		String delete = "delete from " + this.tables.event() + " where lane = ? and id = ? and attempts = ? and ";
		List<Object> parameters = new ArrayList<>(
				List.of(claim.lane(), claim.id(), claim.counted() ? claim.attempts() : claim.attempts() - 1));
		if (lock instanceof UUID mark) {
			String sql = delete + "exists (select 1 from " + this.tables.transaction() + " where id = ?)";
			return this.database.join((connection) -> {
				parameters.add(this.database.kind(connection).parameter(mark));
				return Statements.update(connection, sql, parameters.toArray());
			}) == 1;
		}
		return deleteLocked(delete, (PostgresLock) lock, parameters) == 1;
	}

	/**
	 * Callbacks of others can execute a statement behind this one, and a session of JPA
	 * writes its changes with the commit.
	 */
	private int deleteLocked(String delete, PostgresLock lock, List<Object> parameters) {
		parameters.add(lock.transaction());
		parameters.add(lock.relations());
		String sql = delete + "txid_current() = ? and " + relation() + " = any(?)";
		return (ObservedTransaction.hasCallbacksOfOthers() || !PendingChanges.sessions().isEmpty())
				? this.database.joinAtOnce("", sql, parameters, PreparedStatement::getUpdateCount)
				: this.database.joinAtLast(sql, parameters, PreparedStatement::getUpdateCount);
	}

	/**
	 * Deletes rows that the transaction of the calling thread has locked, if it is still
	 * the same one.
	 * @param lock the rows, and the evidence of their lock
	 * @return {@code false} if it is another transaction, or a row is gone
	 */
	public boolean deleteInTransaction(Lock lock) {
		List<ClaimedEvent> claims = lock.claims();
		if (claims.size() == 1 || lock.evidence() instanceof UUID) {
			return claims.stream().allMatch((claim) -> deleteInTransaction(claim, lock.evidence()));
		}
		List<Long[]> rows = columns(claims);
		List<Object> parameters = new ArrayList<>(rows);
		return deleteLocked("delete from " + this.tables.event() + whereLocked(rows, "true", "for update") + " and ",
				(PostgresLock) lock.evidence(), parameters) == claims.size();
	}

	/**
	 * The table of a row, because another search path can lead to a row with the same key
	 * in another schema. A look-alike of PostgreSQL may not have the column.
	 */
	private String relation() {
		return Boolean.TRUE.equals(this.showsLocks) ? "tableoid::bigint" : "0::bigint";
	}

	private static List<Long[]> columns(List<ClaimedEvent> claims) {
		return List.of(longs(claims, ClaimedEvent::lane), longs(claims, ClaimedEvent::id),
				longs(claims, ClaimedEvent::attempts));
	}

	/**
	 * Returns whether a transaction that has locked a row was committed, although its
	 * work has failed: the work has committed it itself, or by a statement that commits
	 * implicitly. Asked once, after the end of the transaction.
	 * @param lock the evidence of its lock
	 * @return whether a part of the work is committed
	 */
	public boolean isCommitted(Object lock) {
		return this.database.runInTransaction((connection) -> (lock instanceof UUID mark)
				? Statements.update(connection, "delete from " + this.tables.transaction() + " where id = ?",
						this.database.kind(connection).parameter(mark)) == 1
				: Statements.query(connection, "select txid_status(?)", List.of(((PostgresLock) lock).transaction()),
						(row, number) -> row.getString(1))
					.contains("committed"));
	}

	/**
	 * Returns whether the transaction of the calling thread will commit the deletion of a
	 * row: it is the one that has locked it, and the database will not answer its commit
	 * with a rollback that its driver hides. To be asked right before the commit, once.
	 * @param lock the evidence of the lock of the row
	 * @param untouched whether no other code has had the connection since the deletion
	 * @return {@code false} if it will not
	 */
	public boolean canCommit(Object lock, boolean untouched) {
		if (lock instanceof UUID mark) {
			return unmark(mark);
		}
		return this.database.join((connection) -> TransactionGuard.canCommit(connection)
				&& (untouched || isTransaction(connection, lock)));
	}

	private static boolean isTransaction(Connection connection, Object lock) {
		return Statements
			.query(connection, "select coalesce(txid_current_if_assigned() = ?, false)",
					List.of(((PostgresLock) lock).transaction()), (row, number) -> row.getBoolean(1))
			.contains(true);
	}

	/**
	 * Returns whether the calling thread has a transaction on the outbox's database.
	 * @return {@code false} if what it does here would commit on its own
	 */
	public boolean isInTransaction() {
		return TransactionGuard.isBound(this.database.dataSource());
	}

	/**
	 * Ends the leases of rows that were not sent, or whose attempt does not count. A row
	 * that another transaction changes at this moment can keep its lease.
	 * @param claims in any order
	 * @return how many were still claimed by these attempts
	 */
	public int release(List<ClaimedEvent> claims) {
		String reason = (this.database.kind() == Database.POSTGRESQL)
				? ", last_error = case when topic like '" + OutboxTopics.HANDLERS + ":%' then '" + RELEASED + "' end"
				: "";
		return settle("update " + this.tables.event() + " set attempts = attempts - 1, due_at = null" + reason, claims);
	}

	private int settle(String change, List<ClaimedEvent> claims) {
		if (claims.isEmpty()) {
			return 0;
		}
		List<ClaimedEvent> sorted = claims.stream().sorted(ORDER).toList();
		if (this.database.kind() == Database.POSTGRESQL) {
			List<Long[]> rows = columns(sorted);
			return this.database.runAtOnce(change + whereLocked(rows, "true", "for update"), rows,
					PreparedStatement::getUpdateCount);
		}
		return this.database.runInTransaction((connection) -> settleEach(connection, change,
				sorted.stream().map((claim) -> parameters(claim)).toList()));
	}

	/**
	 * Changes claimed rows one by one in a batch: MariaDB reads the whole table to delete
	 * rows of a list of one pair.
	 * @param rows parameters that end with lane, row and attempts
	 */
	private static int settleEach(Connection connection, String change, List<List<Object>> rows) {
		return Statements.updateEach(connection, change + " where lane = ? and id = ? and attempts = ?", rows);
	}

	/**
	 * Makes rows wait for their next attempt.
	 * @param failures in any order
	 * @return how many were still claimed by these attempts
	 */
	public int postpone(List<Failure> failures) {
		return fail(failures, "attempts = attempts - ?, due_at = " + this.database.kind().millisFromNow(),
				(failure) -> List.of(failure.counted() ? 0 : 1, failure.delay().toMillis(), failure.reason()));
	}

	/**
	 * Makes lanes wait for an operator: their first rows stay and have no next attempt.
	 * @param failures in any order
	 * @return how many were still claimed by these attempts
	 */
	public int block(List<Failure> failures) {
		return fail(failures, "due_at = " + this.database.kind().never(), (failure) -> List.of(failure.reason()));
	}

	private int fail(List<Failure> failures, String values, Function<Failure, List<Object>> state) {
		String change = "update " + this.tables.event() + " set " + values + ", last_error = ?";
		List<List<Object>> rows = sorted(failures).stream().map((failure) -> {
			List<Object> parameters = new ArrayList<>(state.apply(failure));
			parameters.addAll(parameters(failure.claim()));
			return parameters;
		}).collect(Collectors.toList());
		return rows.isEmpty() ? 0
				: this.database.runInTransaction((connection) -> settleEach(connection, change, rows));
	}

	/**
	 * Moves rows to the dead events.
	 * @param failures in any order
	 * @return how many were still claimed by these attempts
	 */
	public int moveToDead(List<Failure> failures) {
		String lock = "update " + this.tables.event()
				+ " set last_error = ? where lane = ? and id = ? and attempts = ?";
		return failures.isEmpty() ? 0 : this.database.runInTransaction((connection) -> {
			int buried = 0;
			for (Failure failure : sorted(failures)) {
				ClaimedEvent claim = failure.claim();
				if (Statements.update(connection, lock, failure.reason(), claim.lane(), claim.id(),
						claim.attempts()) == 1) {
					toDead(connection, this.tables, claim.lane(), claim.id(), 1);
					buried++;
				}
			}
			return buried;
		});
	}

	/**
	 * Moves a locked row to the dead events.
	 * @param rows how many rows must be moved
	 */
	static void toDead(Connection connection, OutboxTables tables, long lane, long id, int rows) {
		Statements.move(connection, rows,
				"insert into " + tables.dead() + " (lane, sequence, attempts, created_at, last_error, "
						+ EventRow.COLUMNS + ") select lane, id, attempts, created_at, last_error, " + EventRow.COLUMNS
						+ " from " + tables.event() + " where lane = ? and id = ?",
				lane, id);
		Statements.move(connection, rows, "delete from " + tables.event() + " where lane = ? and id = ?", lane, id);
	}

	/**
	 * Moves delayed events that are due to rows that can be delivered.
	 * @param limit how many at most
	 * @return their new rows
	 */
	public List<Row> moveDelayed(int limit) {
		String select = "select id, lane from " + this.tables.delayed() + " where due_at <= "
				+ this.database.kind().nowForIndexes() + " order by due_at limit " + limit + " for update skip locked";
		return this.database.runInTransaction((connection) -> {
			List<Row> locked = Statements.query(connection, select, List.of(),
					(row, number) -> new Row(row.getLong("lane"), row.getLong("id"), ""));
			return locked.isEmpty() ? List.of() : moveDelayed(connection, this.tables, locked, locked.size());
		});
	}

	/**
	 * Moves locked delayed events. The age of the new rows begins when they were due.
	 * @param rows how many rows must be moved
	 */
	static List<Row> moveDelayed(Connection connection, OutboxTables tables, List<Row> delayed, int rows) {
		String ids = " where id" + OutboxTables.in(delayed.stream().map(Row::id).toList());
		Statements.move(connection, rows,
				"insert into " + tables.event() + " (lane, created_at, " + EventRow.COLUMNS + ") select lane, due_at, "
						+ EventRow.COLUMNS + " from " + tables.delayed() + ids + " order by due_at, id");
		Statements.move(connection, rows, "delete from " + tables.delayed() + ids);
		return Statements.query(connection,
				"select lane, id, topic from " + tables.event() + " where lane"
						+ OutboxTables.in(delayed.stream().map(Row::lane).toList()),
				List.of(), (row, number) -> new Row(row.getLong("lane"), row.getLong("id"), row.getString("topic")));
	}

	/**
	 * Reads the next rows of the table.
	 * @param above the lane behind which to begin; {@link Long#MIN_VALUE} for the first
	 * @param limit how many rows at most
	 * @return the lanes whose first row is due, and where to go on
	 */
	public Chunk scan(long above, int limit) {
		return scan(above, limit, (topic) -> true);
	}

	/**
	 * Reads the next rows of the table.
	 * @param above the lane behind which to begin; {@link Long#MIN_VALUE} for the first
	 * @param limit how many rows at most
	 * @param served the topics that this instance delivers
	 * @return the lanes whose first row is due and of such a topic, and where to go on
	 */
	public Chunk scan(long above, int limit, Predicate<String> served) {
		String sql = scanSql(above, limit);
		return (this.database.kind() == Database.POSTGRESQL)
				? this.database.runAtOnce(sql, List.of(), (statement) -> chunk(statement.getResultSet(), limit, served))
				: this.database.query((connection) -> {
					try (Statement statement = connection.createStatement();
							ResultSet rows = statement.executeQuery(sql)) {
						return chunk(rows, limit, served);
					}
					catch (SQLException ex) {
						throw Statements.translate(sql, ex);
					}
				});
	}

	/**
	 * Counts within the database: only due lanes and the last row are returned.
	 */
	private String scanSql(long above, int limit) {
		Database kind = this.database.kind();
		String fresh = "case when attempts = 1 and last_error is null or attempts = 0 and " + isDue()
				+ " = 1 then case when topic in (select topic from " + this.tables.control() + ") then 0 else 1 end "
				+ "else 0 end";
		return "select * from (select c.*, count(*) over () as total, row_number() over (order by lane, id) as place, "
				+ "sum(case when row_in_lane = 1 and is_due = 0 and is_blocked = 0 then 1 else 0 end) over () as waiting, "
				+ "sum(case when row_in_lane = 1 and is_blocked = 1 then 1 else 0 end) over () as blocked, "
				+ "max(case when row_in_lane = 1 and is_fresh = 1 then age end) over () as oldest "
				+ "from (select e.lane, e.id, e.topic, e.attempts, e.bytes, e.is_new, e.traced, " + INTERRUPTED
				+ " as interrupted, " + isDue() + " as is_due, case when e.due_at = " + kind.never()
				+ " then 1 else 0 end as is_blocked, " + fresh + " as is_fresh, " + kind.millisSince("e.created_at")
				+ " as age, " + kind.millisSince("coalesce(e.due_at, e.created_at)")
				+ " as due_for, row_number() over (partition by e.lane order by e.id) as row_in_lane from "
				+ "(select lane, id, topic, attempts, due_at, created_at, last_error, " + isNew() + " as is_new, "
				+ isTraced() + " as traced, " + bytesOfAlone() + " as bytes from " + this.tables.event()
				+ " e where lane > " + above + " order by lane, id limit " + limit + ") e) c) x "
				+ "where is_due = 1 and row_in_lane = 1 or place = total order by place";
	}

	/**
	 * The size of an event without a key, which is alone in its lane. Other databases
	 * than PostgreSQL would read a large payload to determine its size.
	 */
	private String bytesOfAlone() {
		return (this.database.kind() == Database.POSTGRESQL)
				? "case when event_key is null then " + BYTES + " else -1 end" : "-1";
	}

	private static Row row(ResultSet rows) throws SQLException {
		long lane = rows.getLong("lane");
		long id = rows.getLong("id");
		String topic = rows.getString("topic");
		long bytes = rows.getLong("bytes");
		return new Row(lane, id, topic,
				(bytes < 0) ? null : new QueuedEvent(lane, id, rows.getInt("attempts"), topic, null, bytes, true,
						rows.getInt("interrupted") == 1, rows.getInt("is_new") == 1, rows.getInt("traced") == 1, null));
	}

	private static Chunk chunk(ResultSet rows, int limit, Predicate<String> served) throws SQLException {
		List<Row> due = new ArrayList<>();
		List<UnservedRow> unserved = new ArrayList<>();
		Chunk chunk = new Chunk(due, unserved, 0, 0, 0, Duration.ZERO, null, false, true);
		while (rows.next()) {
			Row row = row(rows);
			if (rows.getInt("is_due") == 1 && rows.getInt("row_in_lane") == 1) {
				if (served.test(row.topic())) {
					due.add(row);
				}
				else {
					unserved.add(new UnservedRow(row, Duration.ofMillis(Math.max(0, rows.getLong("due_for")))));
				}
			}
			boolean end = rows.getInt("total") < limit;
			chunk = new Chunk(due, unserved, rows.getInt("total"), rows.getInt("waiting"), rows.getInt("blocked"),
					Duration.ofMillis(Math.max(0, rows.getLong("oldest"))), row, !end && rows.getInt("row_in_lane") > 1,
					end);
		}
		return chunk;
	}

	private <E, T> List<T> union(List<E> elements, String one, Function<E, List<Object>> parameters,
			RowMapper<T> mapper) {
		List<T> read = new ArrayList<>();
		for (int from = 0; from < elements.size(); from += UNION) {
			List<E> some = elements.subList(from, Math.min(from + UNION, elements.size()));
			String sql = String.join(" union all ", Collections.nCopies(some.size(), "(" + one + ")"));
			List<Object> all = some.stream().flatMap((element) -> parameters.apply(element).stream()).toList();
			read.addAll(this.database.query((connection) -> Statements.query(connection, sql, all, mapper)));
		}
		return read;
	}

	private static List<Failure> sorted(List<Failure> failures) {
		return failures.stream().sorted(Comparator.comparing(Failure::claim, ORDER)).toList();
	}

	private static List<Object> parameters(ClaimedEvent claim) {
		return List.of(claim.lane(), claim.id(), claim.attempts());
	}

	private static <E> Long[] longs(List<E> elements, ToLongFunction<E> value) {
		return elements.stream().map(value::applyAsLong).toArray(Long[]::new);
	}

	/**
	 * Whether a row can be claimed, as 1 or 0.
	 */
	private String isDue() {
		return "case when e.due_at is null or e.due_at <= " + this.database.kind().now() + " then 1 else 0 end";
	}

	/**
	 * Whether an attempt can begin without a claim, as 1 or 0.
	 */
	private String isNew() {
		return Boolean.TRUE.equals(this.showsLocks) ? "case when " + NEW + " then 1 else 0 end" : "0";
	}

	/**
	 * Whether an attempt has begun that was not counted, as 1 or 0.
	 */
	private String isTraced() {
		return Boolean.TRUE.equals(this.showsLocks)
				? "case when e.attempts = 0 and not " + UNLOCKED + " then 1 else 0 end" : "0";
	}

	private String after(Duration lease) {
		return this.database.kind().millisFromNow().replace("?", Long.toString(lease.toMillis()));
	}

	/**
	 * An event to append, as it is collected in a transaction.
	 *
	 * @param event without a row yet
	 * @param ordered whether it is delivered after the earlier events of its topic and
	 * key
	 * @param availableAt when to deliver an unordered event at the earliest, or
	 * {@code null} for as soon as possible
	 */
	public record NewEvent(SerializedEvent event, boolean ordered, @Nullable Instant availableAt) {
	}

	/**
	 * Where an event is stored.
	 *
	 * @param alone the row as it was appended, if its lane is its own because the event
	 * has no key: it can be claimed without looking for the first row of the lane
	 */
	public record Row(long lane, long id, String topic, @Nullable QueuedEvent alone) {

		/**
		 * Creates the place of an event in a lane that others may share.
		 * @param lane the lane
		 * @param id of the row
		 * @param topic of the event
		 */
		public Row(long lane, long id, String topic) {
			this(lane, id, topic, null);
		}

	}

	/**
	 * Where to look for the first row of a lane.
	 *
	 * @param above only rows above this one; 0 for all
	 */
	public record LaneQuery(long lane, long above) {
	}

	/**
	 * A row as it was read.
	 *
	 * @param attempts how many attempts have begun
	 * @param bytes the size of the payload and the headers as they are stored
	 * @param due whether it can be claimed: neither leased, waiting nor blocked
	 * @param interrupted whether its last counted attempt did not end: the event may have
	 * been the reason, and is delivered alone
	 * @param isNew whether no attempt has begun, not even one that was not counted;
	 * {@code false} if the database cannot tell
	 * @param traced whether an attempt has begun that was not counted, or another
	 * transaction has locked the row
	 * @param epoch of the table: ids that start again do so in another one; {@code null}
	 * if the database cannot tell
	 */
	public record QueuedEvent(long lane, long id, int attempts, String topic, @Nullable String key, long bytes,
			boolean due, boolean interrupted, boolean isNew, boolean traced, @Nullable String epoch) {

		/**
		 * The primary key of the row: ids can be equal in several lanes, such as the ids
		 * of retried events after the table was truncated.
		 * @return lane and id
		 */
		public List<Long> place() {
			return List.of(this.lane, this.id);
		}

	}

	/**
	 * A claimed row.
	 *
	 * @param event with its row and the attempts of this claim
	 * @param undeliverable the outcome of an event that cannot be published as it is
	 * stored, or {@code null} if it can
	 * @param age the time since the event was appended or became due, by the clock of the
	 * database
	 * @param counted whether the row has this attempt; {@code false} if it is only locked
	 */
	public record ClaimedEvent(long lane, SerializedEvent event, @Nullable Outcome undeliverable, Duration age,
			boolean counted) {

		static ClaimedEvent of(long lane, EventRow row, Duration age, boolean counted) {
			return new ClaimedEvent(lane, row.event(), row.unreadable(), age, counted);
		}

		/**
		 * The primary key of the row.
		 * @return lane and id
		 */
		public List<Long> place() {
			return List.of(this.lane, id());
		}

		long id() {
			return this.event.sequence();
		}

		int attempts() {
			return this.event.attempts();
		}

	}

	/**
	 * What proves that rows are locked on PostgreSQL.
	 *
	 * @param transaction the transaction that has locked them
	 * @param relations their tables
	 */
	@SuppressWarnings("ArrayRecordComponent")
	private record PostgresLock(long transaction, Long[] relations) {

		static PostgresLock of(ResultSet row, int first) throws SQLException {
			return new PostgresLock(row.getLong(first), new Long[] { row.getLong(first + 1) });
		}

		static PostgresLock of(Collection<PostgresLock> each) {
			return new PostgresLock(each.iterator().next().transaction(),
					each.stream().map((lock) -> lock.relations()[0]).distinct().toArray(Long[]::new));
		}

	}

	/**
	 * Rows that a transaction has locked.
	 *
	 * @param claims the events, with the attempt that begins
	 * @param evidence what proves the lock
	 */
	public record Lock(List<ClaimedEvent> claims, Object evidence) {
	}

	/**
	 * A claimed row that could not be delivered.
	 *
	 * @param reason a sentence for operators
	 * @param delay until the next attempt, at most 36,500 days; without effect on a
	 * blocked or dead one
	 * @param counted whether the attempt counts
	 */
	public record Failure(ClaimedEvent claim, String reason, Duration delay, boolean counted) {

		private static final Duration MAX_DELAY = Duration.ofDays(36_500);

		private static final int MAX_REASON = 1000;

		/**
		 * A row whose attempt counts.
		 * @param claim the row
		 * @param reason a sentence for operators
		 * @param delay until the next attempt
		 */
		public Failure(ClaimedEvent claim, String reason, Duration delay) {
			this(claim, reason, delay, true);
		}

		/**
		 * Limits texts of applications to what a database can store: otherwise one event
		 * would prevent the outcomes of its batch from being stored. PostgreSQL does not
		 * support text with a NUL.
		 */
		public Failure {
			reason = Objects.requireNonNullElse(reason, "No reason was given").replace('\0', ' ');
			reason = (reason.length() <= MAX_REASON) ? reason : reason.substring(0, MAX_REASON);
			delay = delay.isNegative() ? Duration.ZERO : (delay.compareTo(MAX_DELAY) > 0) ? MAX_DELAY : delay;
		}

	}

	/**
	 * The first row of a lane, of a topic that the reader does not serve.
	 *
	 * @param dueFor how long it has been due without being claimed, by the clock of the
	 * database
	 */
	public record UnservedRow(Row row, Duration dueFor) {
	}

	/**
	 * A part of the table.
	 *
	 * @param due the first row of each lane of this part that is due and of a topic that
	 * the reader serves
	 * @param unserved those that are due and of other topics
	 * @param rows how many rows the part has
	 * @param waiting how many first rows wait for another attempt, or are leased
	 * @param blocked how many lanes wait for an operator
	 * @param oldest how long ago the oldest first row without a failed attempt was
	 * appended whose topic is not paused, by the clock of the database; zero if there is
	 * none
	 * @param last the last row of the part, or {@code null} if there is none
	 * @param cut whether it ends within a lane, whose other rows are in no part
	 * @param end whether there are no further rows
	 */
	public record Chunk(List<Row> due, List<UnservedRow> unserved, int rows, int waiting, int blocked, Duration oldest,
			@Nullable Row last, boolean cut, boolean end) {
	}

}
