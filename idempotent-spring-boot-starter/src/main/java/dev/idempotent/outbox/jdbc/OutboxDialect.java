package dev.idempotent.outbox.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import dev.idempotent.IdempotentConfigurationException;
import dev.idempotent.jdbc.Database;
import dev.idempotent.jdbc.Statements;
import dev.idempotent.outbox.OutboxTopics;
import dev.idempotent.outbox.SerializedEvent;
import dev.idempotent.outbox.jdbc.ClaimedEvent.LockedRows;
import org.jspecify.annotations.Nullable;
import org.springframework.dao.DataIntegrityViolationException;
import org.springframework.jdbc.core.ResultSetExtractor;
import org.springframework.jdbc.core.RowMapper;

/**
 * All differences between the databases of an outbox, apart from the expressions for time
 * in {@link Database}. The statements of this class read, change and lock row by row, and
 * suit every database that has {@code limit}, inserts several rows at once and can skip
 * locked rows: such a further database is a further subclass, which replaces what its
 * database does in another way. Each method that has a connection executes its statements
 * on it, and leaves begin and end of the transaction to its caller.
 */
abstract class OutboxDialect {

	/**
	 * For locks that are not granted in time: MySQL waits up to 50 seconds for each.
	 */
	static final Duration MAX_WAIT = Duration.ofSeconds(10);

	/**
	 * The size of the payload and the headers of the event "e", as they are stored.
	 */
	static final String BYTES = "octet_length(e.payload) + octet_length(e.headers)";

	/**
	 * Whether the last attempt of the event "e" that was counted has ended, as 1 or 0.
	 */
	static final String INTERRUPTED = "case when e.attempts > 0 and e.due_at is not null "
			+ "and e.last_error is null then 1 else 0 end";

	private static final String CLAIMED = " where lane = ? and id = ? and attempts = ?";

	/**
	 * How many rows one statement reads by {@code union all}.
	 */
	private static final int UNION = 50;

	private static final String ORDER = " Events could be delivered in an order other than the order of their transactions.";

	private static final String OR = ", or set idempotent.outbox.order=none.";

	private final Database database;

	private final OutboxTables tables;

	OutboxDialect(Database database, OutboxTables tables) {
		this.database = database;
		this.tables = tables;
	}

	static OutboxDialect of(Database database, OutboxTables tables) {
		return switch (database) {
			case POSTGRESQL -> new PostgresOutboxDialect(tables);
			case MYSQL -> new MySql(tables);
			case H2 -> new H2(tables);
		};
	}

	final Database database() {
		return this.database;
	}

	final OutboxTables tables() {
		return this.tables;
	}

	/**
	 * Returns whether the database can roll back all work of a transaction and go on in
	 * another one, as MySQL and H2 do to break a deadlock: a row of the table of marks
	 * then shows whether it is still the same transaction.
	 */
	boolean needsMarks() {
		return true;
	}

	/**
	 * Returns whether statements that commit one by one suit the isolation of a pool.
	 */
	boolean isSuitable(int isolation) {
		return isolation == Connection.TRANSACTION_READ_COMMITTED
				|| isolation == Connection.TRANSACTION_REPEATABLE_READ;
	}

	/**
	 * Returns whether each change is one statement, which can commit on its own.
	 */
	boolean changesAtOnce() {
		return false;
	}

	/**
	 * Limits how long the transaction waits for a lock, if the database would wait
	 * without end.
	 */
	void limitLocks(Connection connection) {
	}

	/**
	 * Rejects a large event that the database cannot take in one statement.
	 */
	void requireSize(Connection connection, SerializedEvent event) {
	}

	/**
	 * The columns that an insert returns, the id first.
	 */
	String[] generatedColumns() {
		return new String[] { "id", "event_id" };
	}

	/**
	 * The rows of inserted events: the database may return them in any order.
	 * @param inserted has been executed
	 */
	Map<UUID, Long> insertedRows(Connection connection, PreparedStatement inserted, String table,
			List<SerializedEvent> events) throws SQLException {
		Map<UUID, Long> ids = new HashMap<>();
		try (ResultSet keys = inserted.getGeneratedKeys()) {
			while (keys.next()) {
				ids.put(EventRow.idOf(keys), keys.getLong(1));
			}
		}
		return ids;
	}

	/**
	 * Whether the event "e" can be claimed, as 1 or 0.
	 */
	final String isDue() {
		return "case when e.due_at is null or e.due_at <= " + this.database.now() + " then 1 else 0 end";
	}

	/**
	 * Whether an attempt of the event "e" can begin without a claim, as 1 or 0.
	 */
	String isNew() {
		return "0";
	}

	/**
	 * Whether an attempt of the event "e" has begun that was not counted, as 1 or 0.
	 */
	String isTraced() {
		return "0";
	}

	/**
	 * The size of an event without a key, which is alone in its lane; -1 for another one,
	 * and if the database would read a large payload to determine its size.
	 */
	String bytesOfAlone() {
		return "-1";
	}

	/**
	 * The columns of {@link #claimed}.
	 * @param attempts an event with more attempts than this comes without its payload and
	 * headers
	 */
	final String claimedColumns(int attempts) {
		return "lane, id, attempts, " + age() + EventRow.columnsUpTo(attempts);
	}

	final String age() {
		return this.database.millisSince("created_at") + " as age, ";
	}

	final String after(Duration lease) {
		return this.database.millisFromNow().replace("?", Long.toString(lease.toMillis()));
	}

	static ClaimedEvent claimed(ResultSet row, boolean counted) throws SQLException {
		EventRow event = EventRow.of(row);
		return new ClaimedEvent(row.getLong("lane"), event.event(), event.unreadable(),
				Duration.ofMillis(row.getLong("age")), counted);
	}

	static ClaimedEvent claimed(ResultSet row, int number) throws SQLException {
		return claimed(row, true);
	}

	/**
	 * Executes a query of many rows that finds them by index.
	 */
	<T> T scan(Connection connection, String sql, ResultSetExtractor<T> result) {
		try (Statement statement = connection.createStatement(); ResultSet rows = statement.executeQuery(sql)) {
			return Objects.requireNonNull(result.extractData(rows));
		}
		catch (SQLException ex) {
			throw Statements.translate(sql, ex);
		}
	}

	/**
	 * Reads the first rows of lanes.
	 */
	List<QueuedEvent> heads(Connection connection, List<LaneQuery> lanes, int limit) {
		return union(connection, lanes, selectHeads("?", "?", limit), (query) -> List.of(query.lane(), query.above()),
				(row, number) -> head(row, null));
	}

	final String selectHeads(String lane, String above, int limit) {
		return "select e.lane, e.id, e.attempts, e.topic, e.event_key, " + BYTES + " as bytes, " + isDue()
				+ " as is_due, " + INTERRUPTED + " as interrupted, " + isNew() + " as is_new, " + isTraced()
				+ " as traced from " + this.tables.event() + " e where e.lane = " + lane + " and e.id > " + above
				+ " order by e.lane, e.id limit " + limit;
	}

	static QueuedEvent head(ResultSet row, @Nullable String epoch) throws SQLException {
		return new QueuedEvent(row.getLong("lane"), row.getLong("id"), row.getInt("attempts"), row.getString("topic"),
				row.getString("event_key"), row.getLong("bytes"), row.getInt("is_due") == 1,
				row.getInt("interrupted") == 1, row.getInt("is_new") == 1, row.getInt("traced") == 1, epoch);
	}

	/**
	 * Returns whether one statement can claim rows and read them.
	 */
	boolean readsWithClaim() {
		return false;
	}

	/**
	 * Claims rows that are as they were read, still due and not locked, and reads them.
	 */
	List<ClaimedEvent> claimAndRead(Connection connection, List<QueuedEvent> heads, Duration lease, String columns) {
		throw new UnsupportedOperationException("The rows are read after the claim has committed");
	}

	/**
	 * Claims rows that are as they were read, still due and not locked.
	 * @return those, in the same order
	 */
	List<QueuedEvent> claim(Connection connection, List<QueuedEvent> all, Duration lease) {
		List<QueuedEvent> heads = all.stream()
			.filter((head) -> !canBeLocked(head) || isUnlocked(connection, head))
			.toList();
		if (heads.isEmpty()) {
			return heads;
		}
		String sql = "update " + this.tables.event() + " e set attempts = attempts + 1, last_error = null, due_at = "
				+ after(lease) + CLAIMED + " and " + isDue() + " = 1";
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

	/**
	 * Returns whether a row can be locked for longer than a moment, although it could be
	 * claimed as it was read: by the transaction of a handler that takes longer than its
	 * lease.
	 */
	boolean canBeLocked(QueuedEvent head) {
		return head.attempts() > 0;
	}

	private boolean isUnlocked(Connection connection, QueuedEvent head) {
		return !Statements
			.query(connection,
					"select id from " + this.tables.event() + " where lane = ? and id = ? for update skip locked",
					List.of(head.lane(), head.id()), (row, number) -> number)
			.isEmpty();
	}

	private static List<Object> parameters(QueuedEvent head) {
		return List.of(head.lane(), head.id(), head.attempts());
	}

	/**
	 * Reads rows that were claimed as they had been read.
	 */
	List<ClaimedEvent> read(Connection connection, List<QueuedEvent> heads, String columns) {
		return union(connection, heads, selectClaimed(columns, "?", "?", "?"),
				(head) -> List.of(head.lane(), head.id(), head.attempts() + 1), OutboxDialect::claimed);
	}

	final String selectClaimed(String columns, String lane, String id, String attempts) {
		return "select " + columns + " from " + this.tables.event() + " e where e.lane = " + lane + " and e.id = " + id
				+ " and e.attempts = " + attempts;
	}

	private static <E, T> List<T> union(Connection connection, List<E> elements, String one,
			Function<E, List<Object>> parameters, RowMapper<T> mapper) {
		List<T> read = new ArrayList<>();
		for (int from = 0; from < elements.size(); from += UNION) {
			List<E> some = elements.subList(from, Math.min(from + UNION, elements.size()));
			String sql = String.join(" union all ", Collections.nCopies(some.size(), "(" + one + ")"));
			List<Object> all = some.stream().flatMap((element) -> parameters.apply(element).stream()).toList();
			read.addAll(Statements.query(connection, sql, all, mapper));
		}
		return read;
	}

	/**
	 * Changes rows that are still claimed by these attempts. A crash of the server may
	 * undo it.
	 * @param change an update or delete without a condition
	 * @param sorted in the order of the primary key
	 * @return how many
	 */
	int change(Connection connection, String change, List<ClaimedEvent> sorted) {
		return changeEach(connection, change, sorted.stream().map(OutboxDialect::parameters).toList());
	}

	/**
	 * Changes claimed rows one by one in a batch, which no crash undoes: MariaDB reads
	 * the whole table to delete rows of a list of one pair.
	 * @param rows parameters that end with lane, row and attempts
	 */
	static int changeEach(Connection connection, String change, List<List<Object>> rows) {
		return Statements.updateEach(connection, change + CLAIMED, rows);
	}

	static List<Object> parameters(ClaimedEvent claim) {
		return List.of(claim.lane(), claim.id(), claim.attempts());
	}

	/**
	 * Further assignments of a release, so that the row does not look as if no attempt
	 * had begun ({@link #isNew}).
	 */
	String traceOfRelease() {
		return "";
	}

	final UUID mark(Connection connection) {
		UUID mark = UUID.randomUUID();
		int inserted = Statements.update(connection, "insert into " + this.tables.transaction() + " (id) values (?)",
				this.database.parameter(mark));
		if (inserted != 1) {
			throw new IllegalStateException("A mark was not inserted");
		}
		return mark;
	}

	/**
	 * Deletes a mark.
	 * @return {@code false} if it was no longer there
	 */
	final boolean unmark(Connection connection, UUID mark) {
		return Statements.update(connection, "delete from " + this.tables.transaction() + " where id = ?",
				this.database.parameter(mark)) == 1;
	}

	/**
	 * Finds out whether a row shows that a transaction has locked it. If so, the
	 * statements of this dialect use it from then on.
	 */
	boolean detectsLocks(Connection connection) {
		return false;
	}

	/**
	 * Locks a row that is still claimed by this attempt, unless another transaction has
	 * locked it.
	 * @param longest how long the transaction may be idle, or wait for a lock, where the
	 * database would let it do so without end
	 * @return the evidence of the lock, or {@code null} if there is none
	 */
	@Nullable Object lock(Connection connection, ClaimedEvent claim, Duration longest) {
		return isLocked(connection, claim) ? mark(connection) : null;
	}

	/**
	 * Locks those rows that are still claimed by these attempts and that no other
	 * transaction has locked.
	 * @param sorted in the order of the primary key
	 * @return {@code null} if there are none
	 */
	@Nullable LockedRows lock(Connection connection, List<ClaimedEvent> sorted, Duration longest) {
		List<ClaimedEvent> locked = sorted.stream().filter((claim) -> isLocked(connection, claim)).toList();
		return locked.isEmpty() ? null : new LockedRows(locked, mark(connection));
	}

	private boolean isLocked(Connection connection, ClaimedEvent claim) {
		return !Statements
			.query(connection, "select id from " + this.tables.event() + CLAIMED + " for update skip locked",
					parameters(claim), (row, number) -> number)
			.isEmpty();
	}

	/**
	 * Locks and reads a new row, unless another transaction has locked it.
	 * @return {@code null} if it is not as it was read
	 */
	@Nullable LockedRows lockUnclaimed(Connection connection, QueuedEvent head, Duration longest) {
		throw new UnsupportedOperationException("The database does not show locks");
	}

	/**
	 * Deletes a row, if this is the transaction that has locked it.
	 * @return how many rows, 0 or 1
	 */
	int delete(Connection connection, ClaimedEvent claim, Object lock) {
		return Statements.update(connection,
				"delete from " + this.tables.event() + CLAIMED + " and exists (select 1 from "
						+ this.tables.transaction() + " where id = ?)",
				claim.lane(), claim.id(), claim.storedAttempts(), this.database.parameter((UUID) lock));
	}

	/**
	 * Deletes rows, if this is the transaction that has locked them.
	 * @return how many rows
	 */
	int delete(Connection connection, List<ClaimedEvent> claims, Object lock) {
		int deleted = 0;
		while (deleted < claims.size() && delete(connection, claims.get(deleted), lock) == 1) {
			deleted++;
		}
		return deleted;
	}

	/**
	 * Returns whether the transaction that has locked a row was committed, asked in
	 * another one, once.
	 */
	boolean isCommitted(Connection connection, Object lock) {
		return unmark(connection, (UUID) lock);
	}

	/**
	 * Returns whether this is the transaction that has locked a row, and can commit.
	 * @param untouched whether no other code has had the connection since the deletion
	 */
	boolean canCommit(Connection connection, Object lock, boolean untouched) {
		return unmark(connection, (UUID) lock);
	}

	/**
	 * Requires a table whose rows the statements can find, and limits how long the
	 * statements of a check wait for locks.
	 */
	void prepareCheck(Connection connection) {
	}

	/**
	 * How many seconds a statement of a check may take, where that is not known from
	 * {@link #prepareCheck}; 0 for no limit.
	 */
	int checkTimeoutSeconds() {
		return 0;
	}

	/**
	 * Rejects a database that does not number rows in the order of their inserts.
	 * @throws IdempotentConfigurationException if it does not
	 */
	abstract void requireIncreasingRows(Connection connection);

	static void rejectOrder(boolean rejected, String why, String action) {
		if (rejected) {
			throw new IdempotentConfigurationException(why + "." + ORDER, action + OR);
		}
	}

	/**
	 * MySQL and MariaDB.
	 */
	private static final class MySql extends OutboxDialect {

		private static final String PACKET = "select @@max_allowed_packet";

		MySql(OutboxTables tables) {
			super(Database.MYSQL, tables);
		}

		/**
		 * Rejects an event that exceeds the limit of the server for one statement. It
		 * closes the connection of a client that exceeds it, without an error.
		 */
		@Override
		void requireSize(Connection connection, SerializedEvent event) {
			try (Statement statement = connection.createStatement(); ResultSet row = statement.executeQuery(PACKET)) {
				if (row.next() && written(event.payload()) >= row.getLong(1)) {
					throw new DataIntegrityViolationException(
							("An event of type '%s' is too large for the database: its payload has %d bytes, and "
									+ "max_allowed_packet is %d. Store the content elsewhere and append a reference to it, "
									+ "or increase max_allowed_packet")
								.formatted(event.type(), event.payload().length, row.getLong(1)));
				}
			}
			catch (SQLException ex) {
				throw Statements.translate(PACKET, ex);
			}
		}

		/**
		 * Returns the size on the wire: drivers escape some bytes.
		 */
		private static long written(byte[] payload) {
			long length = payload.length;
			for (byte each : payload) {
				length += (each == 0 || each == '\'' || each == '"' || each == '\\') ? 1 : 0;
			}
			return length;
		}

		@Override
		String[] generatedColumns() {
			return new String[] { "id" };
		}

		/**
		 * MySQL returns the rows of one insert in its order, but the MariaDB driver
		 * returns only the first by default.
		 */
		@Override
		Map<UUID, Long> insertedRows(Connection connection, PreparedStatement inserted, String table,
				List<SerializedEvent> events) throws SQLException {
			Map<UUID, Long> ids = new HashMap<>();
			try (ResultSet keys = inserted.getGeneratedKeys()) {
				for (SerializedEvent event : events) {
					if (keys.next()) {
						ids.put(event.id(), keys.getLong(1));
					}
				}
			}
			return (ids.size() == 1 && events.size() > 1)
					? from(connection, table, ids.values().iterator().next(), events) : ids;
		}

		private Map<UUID, Long> from(Connection connection, String table, long first, List<SerializedEvent> events) {
			String sql = "select id, event_id from " + table + " where id >= ? and event_id in ("
					+ "?, ".repeat(events.size() - 1) + "?) order by id limit " + events.size();
			List<Object> parameters = new ArrayList<>(List.of(first));
			events.forEach((event) -> parameters.add(database().parameter(event.id())));
			Map<UUID, Long> ids = new HashMap<>();
			Statements
				.query(connection, sql, parameters,
						(row, number) -> Map.entry(UUID.fromString(row.getString("event_id")), row.getLong("id")))
				.forEach((row) -> ids.put(row.getKey(), row.getValue()));
			return ids;
		}

		/**
		 * MySQL waits for the transaction of a handler even if the row, which was read
		 * before, has had an attempt since.
		 */
		@Override
		boolean canBeLocked(QueuedEvent head) {
			return super.canBeLocked(head) || OutboxTopics.publisher(head.topic()).equals(OutboxTopics.HANDLERS);
		}

		@Override
		int checkTimeoutSeconds() {
			return 5;
		}

		@Override
		void requireIncreasingRows(Connection connection) {
			Map<String, String> variables = Statements
				.query(connection, "show variables where variable_name in ('auto_increment_increment', 'wsrep_on')",
						List.of(), (row, number) -> Map.entry(row.getString(1), row.getString(2)))
				.stream()
				.collect(Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue));
			rejectOrder(variables.getOrDefault("wsrep_on", "OFF").equalsIgnoreCase("ON"),
					"The database is a node of a cluster whose nodes number rows independently of each other (wsrep_on is ON)",
					"Use a database with one primary server");
			String increment = variables.getOrDefault("auto_increment_increment", "1");
			rejectOrder(!increment.equals("1"),
					"auto_increment_increment is " + increment
							+ ", as for several servers that number rows independently of each other",
					"Set auto_increment_increment to 1 and write to one server only");
		}

	}

	/**
	 * H2.
	 */
	private static final class H2 extends OutboxDialect {

		H2(OutboxTables tables) {
			super(Database.H2, tables);
		}

		/**
		 * All sessions share one cache of its sequences.
		 */
		@Override
		void requireIncreasingRows(Connection connection) {
		}

	}

}
