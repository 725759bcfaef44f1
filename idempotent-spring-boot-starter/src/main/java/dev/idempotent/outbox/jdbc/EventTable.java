package dev.idempotent.outbox.jdbc;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;

import javax.sql.DataSource;

import dev.idempotent.encryption.PayloadEncryption;
import dev.idempotent.jdbc.Database;
import dev.idempotent.jdbc.Statements;
import dev.idempotent.outbox.SerializedEvent;
import dev.idempotent.outbox.jdbc.ClaimedEvent.LockedRows;
import dev.idempotent.transaction.OwnTransactions;
import dev.idempotent.transaction.TransactionGuard;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.dao.DataAccessException;
import org.springframework.dao.InvalidDataAccessResourceUsageException;
import org.springframework.dao.PessimisticLockingFailureException;

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
	 * Claims of more bytes than this commit before payloads are read: a process that dies
	 * of their size has counted the attempts.
	 */
	public static final long READ_WITH_CLAIM = 1_000_000;

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
		this.tables = new OutboxTables(tablePrefix);
		this.database = new OutboxDatabase(transactions, this.tables);
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
		return this.database.join(this.database::dialect).needsMarks()
				? inserting((connection) -> this.database.dialect(connection).mark(connection)) : null;
	}

	/**
	 * Deletes a mark in the transaction of the calling thread.
	 * @param mark as inserted
	 * @return {@code false} if it was no longer there, so that what the transaction did
	 * before may have been rolled back
	 */
	public boolean unmark(UUID mark) {
		return this.database.join((connection) -> this.database.dialect(connection).unmark(connection, mark));
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
		List<NewEvent> due = new ArrayList<>();
		List<NewEvent> delayed = new ArrayList<>();
		for (int i = 0; i < stored.size(); i++) {
			NewEvent event = events.get(i).with(stored.get(i));
			((event.delayMillis(now) > 0) ? delayed : due).add(event);
		}
		return inserting((connection) -> {
			OutboxDialect dialect = this.database.dialect(connection);
			new EventInsert(dialect, this.tables.delayed(), now).insert(connection, delayed);
			List<Long> ids = new EventInsert(dialect, this.tables.event(), null).insert(connection, due);
			List<Row> rows = new ArrayList<>();
			for (int i = 0; i < ids.size(); i++) {
				rows.add(appended(due.get(i), ids.get(i)));
			}
			return rows;
		});
	}

	private static Row appended(NewEvent event, long id) {
		String topic = event.event().topic();
		QueuedEvent alone = (event.ordered() && event.event().key() != null) ? null
				: new QueuedEvent(event.lane(), id, 0, topic, null, event.bytes(), true, false, true, false, null);
		return new Row(event.lane(), id, topic, alone);
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
	 * @param lanes each lane once, in any order
	 * @param limit how many rows of each lane
	 * @return in the order of lanes and rows
	 */
	public List<QueuedEvent> heads(List<LaneQuery> lanes, int limit) {
		List<QueuedEvent> heads = new ArrayList<>(
				this.database.query((connection) -> this.database.dialect(connection).heads(connection, lanes, limit)));
		heads.sort(Comparator.comparingLong(QueuedEvent::lane).thenComparingLong(QueuedEvent::id));
		return heads;
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
		OutboxDialect dialect = this.database.dialect();
		String columns = dialect.claimedColumns(attempts);
		boolean reads = dialect.readsWithClaim()
				&& heads.stream().mapToLong(QueuedEvent::bytes).sum() <= READ_WITH_CLAIM;
		List<ClaimedEvent> claims = reads
				? this.database.change((connection) -> dialect.claimAndRead(connection, heads, lease, columns))
				: claimAndRead(dialect, heads, lease, columns);
		// Without a connection: a cipher may need time, or one of its own.
		return claims.stream()
			.map((claim) -> (claim.attempts() <= attempts) ? decrypt(claim) : claim)
			.sorted(ORDER)
			.toList();
	}

	private List<ClaimedEvent> claimAndRead(OutboxDialect dialect, List<QueuedEvent> heads, Duration lease,
			String columns) {
		List<QueuedEvent> claimed = this.database.change((connection) -> dialect.claim(connection, heads, lease));
		return this.database.query((connection) -> dialect.read(connection, claimed, columns));
	}

	private ClaimedEvent decrypt(ClaimedEvent claim) {
		EventRow row = this.encryption.decrypt(new EventRow(claim.event(), claim.undeliverable()));
		return new ClaimedEvent(claim.lane(), row.event(), row.unreadable(), claim.age(), claim.counted());
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
		return this.database.join((connection) -> this.database.dialect(connection).lock(connection, claim, longest));
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
	public @Nullable LockedRows lockInTransaction(List<ClaimedEvent> claims, Duration longest) {
		List<ClaimedEvent> sorted = claims.stream().sorted(ORDER).toList();
		if (sorted.size() == 1) {
			Object evidence = lockInTransaction(sorted.get(0), longest);
			return (evidence != null) ? new LockedRows(sorted, evidence) : null;
		}
		return this.database.join((connection) -> this.database.dialect(connection).lock(connection, sorted, longest));
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
	public @Nullable LockedRows lockUnclaimed(QueuedEvent head, Duration longest) {
		try {
			LockedRows lock = this.database
				.join((connection) -> this.database.dialect(connection).lockUnclaimed(connection, head, longest));
			return (lock != null) ? new LockedRows(lock.claims().stream().map(this::decrypt).toList(), lock.evidence())
					: null;
		}
		catch (PessimisticLockingFailureException ex) {
			logger.debug("Another transaction has changed the row since the snapshot of this one", ex);
			return null;
		}
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
			known = detectsLocks();
			this.showsLocks = known;
		}
		return known;
	}

	private boolean detectsLocks() {
		try {
			return this.database.runOnce((connection) -> this.database.dialect(connection).detectsLocks(connection));
		}
		catch (DataAccessException ex) {
			if (Statements.isTransient(ex)) {
				throw ex;
			}
			logger.info("Events of handlers are claimed before they are handled, which takes longer: {}",
					ex.getMostSpecificCause().getMessage());
			return false;
		}
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
		return this.database
			.join((connection) -> this.database.dialect(connection).delete(connection, claim, lock)) == 1;
	}

	/**
	 * Deletes rows that the transaction of the calling thread has locked, if it is still
	 * the same one.
	 * @param lock the rows, and the evidence of their lock
	 * @return {@code false} if it is another transaction, or a row is gone
	 */
	public boolean deleteInTransaction(LockedRows lock) {
		List<ClaimedEvent> claims = lock.claims();
		if (claims.size() == 1) {
			return deleteInTransaction(claims.get(0), lock.evidence());
		}
		return this.database.join(
				(connection) -> this.database.dialect(connection).delete(connection, claims, lock.evidence())) == claims
					.size();
	}

	/**
	 * Returns whether a transaction that has locked a row was committed, although its
	 * work has failed: the work has committed it itself, or by a statement that commits
	 * implicitly. Asked once, after the end of the transaction.
	 * @param lock the evidence of its lock
	 * @return whether a part of the work is committed
	 */
	public boolean isCommitted(Object lock) {
		return this.database
			.runInTransaction((connection) -> this.database.dialect(connection).isCommitted(connection, lock));
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
		return this.database
			.join((connection) -> this.database.dialect(connection).canCommit(connection, lock, untouched));
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
		return settle("update " + this.tables.event() + " set attempts = attempts - 1, due_at = null"
				+ this.database.dialect().traceOfRelease(), claims);
	}

	private int settle(String change, List<ClaimedEvent> claims) {
		if (claims.isEmpty()) {
			return 0;
		}
		List<ClaimedEvent> sorted = claims.stream().sorted(ORDER).toList();
		return this.database
			.change((connection) -> this.database.dialect(connection).change(connection, change, sorted));
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
			parameters.addAll(OutboxDialect.parameters(failure.claim()));
			return parameters;
		}).collect(Collectors.toList());
		return rows.isEmpty() ? 0
				: this.database.runInTransaction((connection) -> OutboxDialect.changeEach(connection, change, rows));
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
		return this.database.query((connection) -> this.database.dialect(connection)
			.scan(connection, sql, (rows) -> chunk(rows, limit, served)));
	}

	/**
	 * Counts within the database: only due lanes and the last row are returned.
	 */
	private String scanSql(long above, int limit) {
		OutboxDialect dialect = this.database.dialect();
		Database kind = dialect.database();
		String fresh = "case when attempts = 1 and last_error is null or attempts = 0 and " + dialect.isDue()
				+ " = 1 then case when topic in (select topic from " + this.tables.control() + ") then 0 else 1 end "
				+ "else 0 end";
		return "select * from (select c.*, count(*) over () as total, row_number() over (order by lane, id) as place, "
				+ "sum(case when row_in_lane = 1 and is_due = 0 and is_blocked = 0 then 1 else 0 end) over () as waiting, "
				+ "sum(case when row_in_lane = 1 and is_blocked = 1 then 1 else 0 end) over () as blocked, "
				+ "max(case when row_in_lane = 1 and is_fresh = 1 then age end) over () as oldest "
				+ "from (select e.lane, e.id, e.topic, e.attempts, e.bytes, e.is_new, e.traced, "
				+ OutboxDialect.INTERRUPTED + " as interrupted, " + dialect.isDue()
				+ " as is_due, case when e.due_at = " + kind.never() + " then 1 else 0 end as is_blocked, " + fresh
				+ " as is_fresh, " + kind.millisSince("e.created_at") + " as age, "
				+ kind.millisSince("coalesce(e.due_at, e.created_at)")
				+ " as due_for, row_number() over (partition by e.lane order by e.id) as row_in_lane from "
				+ "(select lane, id, topic, attempts, due_at, created_at, last_error, " + dialect.isNew()
				+ " as is_new, " + dialect.isTraced() + " as traced, " + dialect.bytesOfAlone() + " as bytes from "
				+ this.tables.event() + " e where lane > " + above + " order by lane, id limit " + limit + ") e) c) x "
				+ "where is_due = 1 and row_in_lane = 1 or place = total order by place";
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

	private static List<Failure> sorted(List<Failure> failures) {
		return failures.stream().sorted(Comparator.comparing(Failure::claim, ORDER)).toList();
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
