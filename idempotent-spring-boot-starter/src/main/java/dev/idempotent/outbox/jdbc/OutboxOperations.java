package dev.idempotent.outbox.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.UUID;
import java.util.function.BiConsumer;
import java.util.regex.Pattern;

import com.fasterxml.jackson.annotation.JsonIgnore;
import dev.idempotent.encryption.PayloadEncryption;
import dev.idempotent.jdbc.Database;
import dev.idempotent.jdbc.Statements;
import dev.idempotent.outbox.EventFilter;
import dev.idempotent.outbox.TopicControl;
import dev.idempotent.transaction.OwnTransactions;
import org.jspecify.annotations.Nullable;
import org.springframework.dao.DuplicateKeyException;
import org.springframework.dao.InvalidDataAccessResourceUsageException;

/**
 * Lists the events that are not delivered yet, changes those that block their keys,
 * counts the others and pauses topics, for operators. A page of a list examines a limited
 * number of rows, whatever the filter, and takes no locks. Events are changed in batches,
 * each in a transaction of its own; completed batches stay committed. Failures are
 * {@link org.springframework.dao.DataAccessException}s.
 */
public final class OutboxOperations implements TopicControl {

	/**
	 * How many rows the search for one event examines at most.
	 */
	private static final int MAX_SEARCHED = 100_000;

	private static final int MAX_COUNT = 10_000;

	private static final int MAX_TOPIC_LENGTH = 255;

	private static final Pattern TOPIC = Pattern.compile("[A-Za-z0-9-]+:\\P{Cntrl}+");

	private static final int TIMEOUT_SECONDS = 5;

	private static final Duration RECHECK_INTERVAL = Duration.ofMinutes(1);

	private static final int BATCH = 500;

	private static final Position FIRST = new Position(false, Long.MIN_VALUE, 0);

	private final OutboxDatabase database;

	private final OutboxTables tables;

	private final EventEncryption encryption;

	private volatile @Nullable Missing missing;

	/**
	 * Creates the operations of an outbox.
	 * @param transactions own transactions on the data source of the application's
	 * @param tablePrefix the common prefix of the names of the tables
	 * @param encryption how payloads are protected
	 */
	public OutboxOperations(OwnTransactions transactions, String tablePrefix, PayloadEncryption encryption) {
		this.tables = new OutboxTables(tablePrefix);
		this.database = new OutboxDatabase(transactions, this.tables);
		this.encryption = new EventEncryption(encryption);
	}

	/**
	 * Lists events that wait for delivery, the events of a key one after the other.
	 * @param filter which events
	 * @param after the end of the previous page, or {@code null} for the first page
	 * @param limit how many at most
	 * @return a page
	 */
	public Page pending(EventFilter filter, @Nullable Position after, int limit) {
		return list(pendingRows(), "", filter, after, limit);
	}

	/**
	 * Lists events that have failed and wait for another attempt.
	 * @param filter which events
	 * @param after the end of the previous page, or {@code null} for the first page
	 * @param limit how many at most
	 * @return a page
	 */
	public Page waiting(EventFilter filter, @Nullable Position after, int limit) {
		Database kind = this.database.kind();
		return list(pendingRows(),
				" and last_error is not null and due_at > " + kind.now() + " and due_at < " + kind.never(), filter,
				after, limit);
	}

	/**
	 * Lists events that block their keys until an operator acts.
	 * @param filter which events
	 * @param after the end of the previous page, or {@code null} for the first page
	 * @param limit how many at most
	 * @return a page
	 */
	public Page blocked(EventFilter filter, @Nullable Position after, int limit) {
		return list(pendingRows(), isBlocked(), filter, after, limit);
	}

	/**
	 * Lists events that are to be delivered later.
	 * @param filter which events
	 * @param after the end of the previous page, or {@code null} for the first page
	 * @param limit how many at most
	 * @return a page
	 */
	public Page delayed(EventFilter filter, @Nullable Position after, int limit) {
		return list(delayedRows(), "", filter, after, limit);
	}

	private String delayedRows() {
		return "select 0 as lane, id, event_id, type, topic, event_key, 0 as attempts, created_at, due_at, "
				+ "null as last_error, octet_length(payload) as bytes from " + this.tables.delayed()
				+ " where id > %2$d order by id";
	}

	/**
	 * Reads an event that waits for delivery, with its payload.
	 * @param id the event
	 * @param after where the search begins, or {@code null} for the first row
	 * @return the first event of this id, or {@code null} if it is not among the rows
	 * that were examined
	 */
	public @Nullable EventRow readPending(UUID id, @Nullable Position after) {
		return read(pendingRows(), this.tables.event() + " where lane = %1$d and id = %2$d", id, after);
	}

	/**
	 * Reads an event that is to be delivered later, with its payload.
	 * @param id the event
	 * @param after where the search begins, or {@code null} for the first row
	 * @return the first event of this id, or {@code null} if it is not among the rows
	 * that were examined
	 */
	public @Nullable EventRow readDelayed(UUID id, @Nullable Position after) {
		return read(delayedRows(), this.tables.delayed() + " where id = %2$d", id, after);
	}

	/**
	 * Reads a dead event, with its payload.
	 * @param id the event
	 * @param after only rows above this one; 0 for all
	 * @return the first event of this id, or {@code null} if it is not among the rows
	 * that were examined
	 */
	public @Nullable EventRow readDead(UUID id, long after) {
		String rows = "select 0 as lane, id, event_id, type, topic, event_key, attempts, created_at, died_at as due_at, "
				+ "last_error, octet_length(payload) as bytes from " + this.tables.dead()
				+ " where id > %2$d order by id";
		return read(rows, this.tables.dead() + " where id = %2$d", id, new Position(false, 0, after));
	}

	private @Nullable EventRow read(String rows, String row, UUID id, @Nullable Position after) {
		List<ListedEvent> found = search(rows, id, after).events();
		if (found.isEmpty()) {
			return null;
		}
		Position position = found.get(0).position();
		String sql = "select id, 0 as attempts, " + EventRow.COLUMNS + " from "
				+ row.formatted(position.lane(), position.id());
		List<EventRow> stored = this.database.query(
				(connection) -> Statements.query(connection, sql, List.of(), (result, number) -> EventRow.of(result)));
		// Without a connection: a cipher may need time, or one of its own.
		return stored.isEmpty() ? null : this.encryption.decrypt(stored.get(0));
	}

	/**
	 * Lists the queue of an event: the events of its key, which are delivered one after
	 * the other.
	 * @param id the event, which waits for delivery
	 * @param after the end of a page of the queue; or the end of a page of pending
	 * events, after which the event is searched; or {@code null} for the first page
	 * @param limit how many at most
	 * @return a page, empty if the event is not among the rows that were examined, or
	 * {@code null} if no further row can be the event
	 */
	public @Nullable Queue queue(UUID id, @Nullable Position after, int limit) {
		if (after != null && after.inQueue()) {
			return queue(after, limit);
		}
		Page found = search(pendingRows(), id, after);
		if (!found.events().isEmpty()) {
			return queue(new Position(true, found.events().get(0).position().lane(), 0), limit);
		}
		return (found.next() != null) ? new Queue(null, found) : null;
	}

	/**
	 * Searches an event, page by page.
	 */
	private Page search(String rows, UUID id, @Nullable Position after) {
		EventFilter event = new EventFilter(id, null, null);
		Page page = list(rows, "", event, after, 1);
		for (int examined = OutboxTables.MAX_EXAMINED; examined < MAX_SEARCHED && page.events().isEmpty()
				&& page.next() != null; examined += OutboxTables.MAX_EXAMINED) {
			page = list(rows, "", event, page.next(), 1);
		}
		return page;
	}

	private Queue queue(Position after, int limit) {
		String rows = pendingColumns() + " where lane = %1$d and id > %2$d order by lane, id";
		Page page = list(rows, "", EventFilter.ALL, after, limit);
		List<ListedEvent> first = (after.id() == 0) ? page.events()
				: list(rows, "", EventFilter.ALL, new Position(true, after.lane(), 0), 1).events();
		Position next = page.next();
		return new Queue(first.isEmpty() ? null : first.get(0).id(),
				new Page(page.events(), (next != null) ? new Position(true, next.lane(), next.id()) : null));
	}

	/**
	 * A range that every database searches by index.
	 */
	private String pendingRows() {
		return pendingColumns() + " where lane >= %1$d and (lane > %1$d or id > %2$d) order by lane, id";
	}

	private String pendingColumns() {
		return "select lane, id, event_id, type, topic, event_key, attempts, created_at, due_at, last_error, "
				+ "octet_length(payload) as bytes from " + this.tables.event();
	}

	private String isBlocked() {
		return " and due_at = " + this.database.kind().never();
	}

	private Page list(String rows, String condition, EventFilter filter, @Nullable Position after, int limit) {
		Position start = (after != null) ? after : FIRST;
		String range = rows.formatted(start.lane(), start.id());
		return this.database.runInTransaction((connection) -> {
			List<ListedEvent> events = events(connection, range, condition, filter, limit);
			return new Page(events,
					(events.size() == limit) ? events.get(limit - 1).position() : endOfExamined(connection, range));
		});
	}

	private List<ListedEvent> events(Connection connection, String range, String condition, EventFilter filter,
			int limit) {
		Database kind = this.database.kind();
		List<Object> parameters = new ArrayList<>();
		int examined = (condition.isEmpty() && filter.equals(EventFilter.ALL)) ? limit : OutboxTables.MAX_EXAMINED;
		String sql = "select lane, id, event_id, type, topic, event_key, attempts, last_error, bytes, "
				+ kind.millisSince("created_at") + " as age, coalesce(" + kind.microsUntil("due_at") + ", 0) as due, "
				+ "case when due_at = " + kind.never() + " then 1 else 0 end as blocked from (" + range + " limit "
				+ examined + ") examined where 1 = 1" + condition + OutboxTables.matching(kind, filter, parameters)
				+ " order by lane, id limit " + limit;
		return Statements.query(connection, sql, parameters, (row, number) -> event(row));
	}

	/**
	 * Returns where the examined rows end, or {@code null} if there are no further ones.
	 */
	private static @Nullable Position endOfExamined(Connection connection, String range) {
		List<Position> last = Statements.query(connection,
				"select lane, id from (" + range + " limit 1 offset " + (OutboxTables.MAX_EXAMINED - 1) + ") examined",
				List.of(), (row, number) -> Position.of(row));
		return last.isEmpty() ? null : last.get(0);
	}

	private static ListedEvent event(ResultSet row) throws SQLException {
		Duration until = Duration.ofMillis(Math.max(0, row.getLong("due") / 1000));
		boolean blocked = row.getInt("blocked") == 1;
		boolean leased = !blocked && !until.isZero() && row.getInt("attempts") > 0
				&& row.getString("last_error") == null;
		return new ListedEvent(Position.of(row), row.getLong("id"),
				Objects.requireNonNullElse(row.getString("event_id"), ""), row.getString("type"),
				row.getString("topic"), LaneHash.isOrdered(row), row.getInt("attempts"),
				Duration.ofMillis(Math.max(0, row.getLong("age"))), blocked ? null : until, leased,
				row.getString("last_error"), row.getLong("bytes"));
	}

	/**
	 * Makes blocked events due now, with all their attempts. They stay the first ones of
	 * their keys. Their age begins again.
	 * @param filter which events
	 * @return how many were changed
	 */
	public int retryBlocked(EventFilter filter) {
		String sql = "update " + this.tables.event() + " set attempts = 0, last_error = null, due_at = null, "
				+ "created_at = " + this.database.kind().now() + " where lane = ? and id = ?";
		return eachBatch(filter, (connection, rows) -> changeEach(connection, sql, rows));
	}

	/**
	 * Moves blocked events to the dead events, so that the later ones of their keys are
	 * delivered.
	 * @param filter which events
	 * @return how many were moved
	 */
	public int skipBlocked(EventFilter filter) {
		return eachBatch(filter, (connection, rows) -> rows
			.forEach((row) -> EventTable.toDead(connection, this.tables, row.lane(), row.id(), 1)));
	}

	/**
	 * Deletes blocked events, so that the later ones of their keys are delivered.
	 * @param filter which events
	 * @return how many were deleted
	 */
	public int discardBlocked(EventFilter filter) {
		String sql = "delete from " + this.tables.event() + " where lane = ? and id = ?";
		return eachBatch(filter, (connection, rows) -> changeEach(connection, sql, rows));
	}

	/**
	 * Moves the due events of a topic that no instance serves to the dead events.
	 * @param topic a topic for which this application has neither a publisher nor a
	 * handler
	 * @return how many were moved
	 */
	public int skipUnserved(String topic) {
		String reason = "update " + this.tables.event() + " set last_error = ? where lane = ? and id = ?";
		String due = " and (due_at is null or due_at <= " + this.database.kind().now() + ")";
		return eachBatch(due, new EventFilter(null, null, topic), (connection, rows) -> rows.forEach((row) -> {
			Statements.update(connection, reason, "No instance served its topic", row.lane(), row.id());
			EventTable.toDead(connection, this.tables, row.lane(), row.id(), 1);
		}));
	}

	private static void changeEach(Connection connection, String sql, List<Position> rows) {
		Statements.changeEach(connection, sql, rows.stream().map((row) -> List.of(row.lane(), row.id())).toList());
	}

	private int eachBatch(EventFilter filter, BiConsumer<Connection, List<Position>> step) {
		return eachBatch(isBlocked(), filter, step);
	}

	private int eachBatch(String condition, EventFilter filter, BiConsumer<Connection, List<Position>> step) {
		return OutboxDatabase.inBatches(FIRST, BATCH, (after) -> this.database.runInTransaction((connection) -> {
			List<Position> locked = lock(connection, condition, filter, after);
			if (!locked.isEmpty()) {
				step.accept(connection, locked);
			}
			return locked;
		}));
	}

	/**
	 * Locks rows above the given one. Skips those that another transaction has locked.
	 */
	private List<Position> lock(Connection connection, String condition, EventFilter filter, Position after) {
		List<Object> parameters = new ArrayList<>(List.of(after.lane(), after.lane(), after.id()));
		String sql = "select lane, id from " + this.tables.event() + " where lane >= ? and (lane > ? or id > ?)"
				+ condition + OutboxTables.matching(this.database.kind(), filter, parameters)
				+ " order by lane, id limit " + BATCH + " for update skip locked";
		return Statements.query(connection, sql, parameters, (row, number) -> Position.of(row));
	}

	/**
	 * Counts the events outside of the table that relays read, each up to 10,000.
	 * @return the current state
	 * @throws InvalidDataAccessResourceUsageException if there are no tables; they are
	 * not queried again for a minute
	 * @throws org.springframework.dao.DataAccessException if the database does not answer
	 * within 5 seconds
	 */
	public OutboxSummary summary() {
		Missing known = this.missing;
		if (known != null && System.nanoTime() - known.since() < RECHECK_INTERVAL.toNanos()) {
			throw new InvalidDataAccessResourceUsageException("The tables of the outbox do not exist", known.failure());
		}
		String sql = "select " + count(this.tables.delayed()) + ", " + count(this.tables.dead());
		try {
			OutboxSummary summary = this.database.run((connection) -> summary(connection, sql));
			this.missing = null;
			return summary;
		}
		catch (InvalidDataAccessResourceUsageException ex) {
			this.missing = new Missing(ex, System.nanoTime());
			throw ex;
		}
	}

	/**
	 * Finds the event that makes the outbox late: the oldest of the events that are next
	 * in their lanes, without events of paused topics and events that had a failed
	 * attempt.
	 * @return the event, or none if it is not among the first 10,000 rows
	 * @throws org.springframework.dao.DataAccessException if the database does not answer
	 * within 5 seconds
	 */
	public Optional<LateEvent> late() {
		return this.database.runInTransaction(this::late);
	}

	private Optional<LateEvent> late(Connection connection) {
		Database kind = this.database.kind();
		String sql = "select lane, id, event_id, topic, type, " + kind.millisSince("created_at") + " as age, "
				+ "coalesce(" + kind.microsUntil("due_at") + ", 0) as due from (select e.*, "
				+ "row_number() over (partition by lane order by id) as row_in_lane from (select lane, id, event_id, "
				+ "topic, type, attempts, created_at, due_at, last_error from " + this.tables.event()
				+ " order by lane, id limit " + OutboxTables.MAX_EXAMINED + ") e) c where row_in_lane = 1 "
				+ "and (attempts = 0 or attempts = 1 and last_error is null) and (due_at is null or due_at < "
				+ kind.never() + ") and topic not in (select topic from " + this.tables.control()
				+ ") order by created_at limit 1";
		try (PreparedStatement statement = connection.prepareStatement(sql)) {
			statement.setQueryTimeout(TIMEOUT_SECONDS);
			try (ResultSet row = statement.executeQuery()) {
				return row.next() ? Optional.of(late(connection, row)) : Optional.empty();
			}
			finally {
				// H2 keeps it for the connection.
				statement.setQueryTimeout(0);
			}
		}
		catch (SQLException ex) {
			throw Statements.translate(sql, ex);
		}
	}

	private LateEvent late(Connection connection, ResultSet row) throws SQLException {
		boolean locked = Statements
			.query(connection,
					"select id from " + this.tables.event() + " where lane = ? and id = ? for update skip locked",
					List.of(row.getLong("lane"), row.getLong("id")), (found, number) -> found.getLong(1))
			.isEmpty();
		return new LateEvent(Objects.requireNonNullElse(row.getString("event_id"), ""), row.getString("topic"),
				row.getString("type"), Duration.ofMillis(Math.max(0, row.getLong("age"))), row.getLong("due") > 0,
				locked);
	}

	/**
	 * Counts one row more than the limit, to know whether the count is exact.
	 */
	private static String count(String table) {
		return "(select count(*) from (select id from " + table + " limit " + (MAX_COUNT + 1) + ") counted)";
	}

	private static OutboxSummary summary(Connection connection, String sql) {
		try (PreparedStatement statement = connection.prepareStatement(sql)) {
			statement.setQueryTimeout(TIMEOUT_SECONDS);
			try (ResultSet row = statement.executeQuery()) {
				row.next();
				return new OutboxSummary(count(row.getInt(1)), count(row.getInt(2)));
			}
			finally {
				// H2 keeps it for the connection.
				statement.setQueryTimeout(0);
			}
		}
		catch (SQLException ex) {
			throw Statements.translate(sql, ex);
		}
	}

	private static EventCount count(int counted) {
		return new EventCount(Math.min(counted, MAX_COUNT), counted <= MAX_COUNT);
	}

	/**
	 * Topics stay paused after a restart.
	 */
	@Override
	public boolean pause(String topic) {
		if (topic.length() > MAX_TOPIC_LENGTH || !TOPIC.matcher(topic).matches()) {
			throw new IllegalArgumentException("A topic consists of the prefix of a publisher, a colon and a "
					+ "destination without control characters, and has at most " + MAX_TOPIC_LENGTH + " characters");
		}
		try {
			return this.database.runInTransaction((connection) -> pause(connection, topic));
		}
		catch (DuplicateKeyException ex) {
			return false;
		}
	}

	private boolean pause(Connection connection, String topic) {
		if (countPaused(connection, " where topic = ?", List.of(topic)) > 0) {
			return false;
		}
		if (countPaused(connection, "", List.of()) >= MAX_TOPICS) {
			throw new IllegalStateException(MAX_TOPICS + " topics are paused");
		}
		return Statements.update(connection, "insert into " + this.tables.control() + " (topic) values (?)",
				topic) == 1;
	}

	private int countPaused(Connection connection, String condition, List<Object> parameters) {
		return Statements
			.query(connection, "select count(*) from " + this.tables.control() + condition, parameters,
					(row, number) -> row.getInt(1))
			.get(0);
	}

	@Override
	public boolean resume(String topic) {
		return this.database.runInTransaction((connection) -> Statements.update(connection,
				"delete from " + this.tables.control() + " where topic = ?", topic)) > 0;
	}

	@Override
	public List<PausedTopic> paused() {
		String sql = "select topic, " + this.database.kind().millisSince("paused_at") + " as age from "
				+ this.tables.control() + " order by topic";
		return this.database.run((connection) -> Statements.query(connection, sql, List.of(),
				(row, number) -> new PausedTopic(row.getString("topic"),
						Duration.ofMillis(Math.max(0, row.getLong("age"))))));
	}

	/**
	 * A page of events.
	 *
	 * @param events the events that match the filter
	 * @param next the end of this page, or {@code null} if this is the last one; a page
	 * that examined its limit of rows can be empty without being the last one
	 */
	public record Page(List<ListedEvent> events, @Nullable Position next) {
	}

	/**
	 * A page of a queue.
	 *
	 * @param head the id of the first event of the queue, or {@code null} if there is no
	 * longer one, or the queue was not found yet
	 */
	public record Queue(@Nullable String head, Page page) {
	}

	/**
	 * An event, without its payload and its key.
	 *
	 * @param position the end of a page that ends with this event
	 * @param row the row of the event
	 * @param id the id of the event, as it is stored
	 * @param type the type of the event
	 * @param topic the topic of the event
	 * @param ordered whether the events of its key are delivered one after the other
	 * @param attempts how many attempts have begun
	 * @param age how long ago it was appended or made due, by the clock of the database
	 * @param availableIn how long until it is due, or its lease ends; zero if it is due,
	 * {@code null} if it waits for an operator
	 * @param leased whether an instance has leased it
	 * @param lastError why the last attempt failed, or {@code null} if none did
	 * @param payloadBytes the size of the payload in bytes, as it is stored
	 */
	public record ListedEvent(@JsonIgnore Position position, long row, String id, String type, String topic,
			boolean ordered, int attempts, Duration age, @Nullable Duration availableIn, boolean leased,
			@Nullable String lastError, long payloadBytes) {
	}

	/**
	 * The end of a page, in the order of lanes and rows. Its text has no sign, as a lane
	 * can have.
	 *
	 * @param inQueue whether it is in a queue that was found
	 * @param lane the lane of the last event
	 * @param id the row of the last event
	 */
	public record Position(boolean inQueue, long lane, long id) {

		private static final String IN_QUEUE = "queue-";

		static Position of(ResultSet row) throws SQLException {
			return new Position(false, row.getLong("lane"), row.getLong("id"));
		}

		/**
		 * Reads a position.
		 * @param text what {@link #toString()} returned
		 * @return the position
		 * @throws IllegalArgumentException if the text has another format
		 */
		public static Position parse(String text) {
			boolean inQueue = text.startsWith(IN_QUEUE);
			int begin = inQueue ? IN_QUEUE.length() : 0;
			int separator = text.indexOf('-', begin);
			if (separator < 0) {
				throw new IllegalArgumentException("There is no separator");
			}
			return new Position(inQueue, Long.parseUnsignedLong(text, begin, separator, 16),
					Long.parseLong(text, separator + 1, text.length(), 10));
		}

		@Override
		public String toString() {
			return (this.inQueue ? IN_QUEUE : "") + Long.toHexString(this.lane) + "-" + this.id;
		}

	}

	/**
	 * Avoids repeated errors in the log of a database without the tables.
	 */
	private record Missing(InvalidDataAccessResourceUsageException failure, long since) {
	}

	/**
	 * How many events there are outside of the table that the relays read.
	 *
	 * @param delayed those that are to be delivered later
	 * @param dead those without a next attempt
	 */
	public record OutboxSummary(EventCount delayed, EventCount dead) {
	}

	/**
	 * An event that is next in its lane and has waited for long.
	 *
	 * @param id the event
	 * @param topic where it is to be sent
	 * @param type its type
	 * @param age how long ago it was appended
	 * @param leased whether an instance has it, or had it when it died
	 * @param locked whether a transaction has locked its row, so that no instance can
	 * take it
	 */
	public record LateEvent(String id, String topic, String type, Duration age, boolean leased, boolean locked) {
	}

	/**
	 * A number of events, counted up to a limit.
	 *
	 * @param events the number, at most the limit
	 * @param exact {@code false} if there may be more
	 */
	public record EventCount(int events, boolean exact) {
	}

	/**
	 * What a relay found when it last read the table of events from its first to its last
	 * row.
	 *
	 * @param events how many rows there were
	 * @param waiting how many of the rows that are next in their lanes wait for another
	 * attempt or are leased
	 * @param blocked how many of them wait for an operator
	 * @param complete whether all rows were counted: rows of paused and unavailable
	 * topics are passed over, and the rest of a long queue of one key
	 * @param oldestAge how long ago the oldest of the rows that are next in their lanes
	 * was appended, without rows of paused topics and rows that had a failed attempt;
	 * zero if there is none
	 * @param age how long ago the relay had read the last row
	 * @param unserved the topics with due events for which this instance has neither a
	 * publisher nor a handler, up to 50, in alphabetical order
	 */
	public record OutboxBacklog(long events, long waiting, long blocked, boolean complete, Duration oldestAge,
			Duration age, List<UnservedTopic> unserved) {

		/**
		 * The events of unserved topics.
		 * @return how many were found at least
		 */
		public long unservedEvents() {
			return this.unserved.stream().mapToLong(UnservedTopic::events).sum();
		}

		/**
		 * How long the oldest event of an unserved topic has been due.
		 * @return zero if there is none
		 */
		public Duration unservedFor() {
			return this.unserved.stream().map(UnservedTopic::dueFor).max(Duration::compareTo).orElse(Duration.ZERO);
		}

	}

	/**
	 * A topic whose events this instance leaves to others.
	 *
	 * @param events how many of its events are next in their lanes and due, at least
	 * @param dueFor how long the oldest of them has been due without being claimed: if it
	 * grows, no instance serves the topic
	 */
	public record UnservedTopic(String topic, long events, Duration dueFor) {
	}

}
