package dev.idempotent.outbox.jdbc;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Objects;

import javax.sql.DataSource;

import dev.idempotent.jdbc.Database;
import dev.idempotent.jdbc.Statements;
import dev.idempotent.outbox.DeadEvents.DeadFilter;
import dev.idempotent.outbox.OutboxStore.OrderedRow;
import org.jspecify.annotations.Nullable;

/**
 * Lists events for operators, page by page in the order of a primary key. A page examines
 * a limited number of rows, whatever the filter, and takes no locks.
 */
public final class JdbcEventLists {

	private static final int MAX_EXAMINED = 10_000;

	private static final String COLUMNS = "event_id, type, topic, attempts, created_at, available_at, claim_id, "
			+ "last_error, payload";

	private final OutboxDatabase database;

	private final OutboxTables tables;

	/**
	 * Creates the lists of a store.
	 * @param dataSource the data source of the store
	 * @param tables the tables of the store
	 */
	public JdbcEventLists(DataSource dataSource, OutboxTables tables) {
		this.database = new OutboxDatabase(dataSource);
		this.tables = tables;
	}

	/**
	 * Lists events that have not failed yet.
	 * @param filter which events
	 * @param after where the previous page ended, or {@code null} for the first page
	 * @param limit how many at most
	 * @return a page
	 */
	public Page pending(DeadFilter filter, @Nullable OrderedRow after, int limit) {
		return list(this.tables.event(), false, filter, after, limit);
	}

	/**
	 * Lists events that wait for another attempt, or for their time.
	 * @param filter which events
	 * @param after where the previous page ended, or {@code null} for the first page
	 * @param limit how many at most
	 * @return a page
	 */
	public Page waiting(DeadFilter filter, @Nullable OrderedRow after, int limit) {
		return list(this.tables.waiting(), false, filter, after, limit);
	}

	/**
	 * Lists ordered events, the events of a key one after the other.
	 * @param filter which events
	 * @param after where the previous page ended, or {@code null} for the first page
	 * @param limit how many at most
	 * @param blocked whether to list only events that block their keys
	 * @return a page
	 */
	public Page ordered(DeadFilter filter, @Nullable OrderedRow after, int limit, boolean blocked) {
		return list(this.tables.ordered(), blocked, filter, after, limit);
	}

	/**
	 * Returns how old the first pending event is whose topic is not paused, among the
	 * first ones.
	 * @return zero if there is none
	 */
	public Duration oldestUnpausedAge() {
		Database kind = this.database.kind();
		String sql = "select " + kind.millisSince("created_at") + " from (select id, topic, created_at from "
				+ this.tables.event() + " order by id limit " + MAX_EXAMINED
				+ ") examined where topic not in (select topic from " + this.tables.control() + ") order by id limit 1";
		List<Long> ages = this.database.runInTransaction(
				(connection) -> Statements.query(connection, sql, List.of(), (row, number) -> row.getLong(1)));
		return Duration.ofMillis(ages.isEmpty() ? 0 : Math.max(0, ages.get(0)));
	}

	private Page list(String table, boolean blocked, DeadFilter filter, @Nullable OrderedRow after, int limit) {
		boolean ordered = table.equals(this.tables.ordered());
		Database kind = this.database.kind();
		OrderedRow start = (after != null) ? after : new OrderedRow(-1, 0);
		return this.database.runInTransaction((connection) -> {
			List<ListedEvent> events = events(connection, kind, ordered, table, blocked, filter, start, limit);
			OrderedRow next = (events.size() == limit) ? events.get(limit - 1).position()
					: endOfExamined(connection, ordered, table, start);
			return new Page(events, next);
		});
	}

	private List<ListedEvent> events(Connection connection, Database kind, boolean ordered, String table,
			boolean blocked, DeadFilter filter, OrderedRow after, int limit) {
		FilterCondition condition = FilterCondition.of(kind, filter,
				blocked ? " where available_at = " + BlockedRows.never(kind) : " where 1 = 1");
		String sql = "select key_hash, id, event_id, type, topic, attempts, " + kind.millisSince("created_at")
				+ " as age, " + kind.microsUntil("available_at") + " as due, available_at = " + BlockedRows.never(kind)
				+ " as blocked, claim_id, last_error, octet_length(payload) as bytes from ("
				+ examined(ordered, table, COLUMNS, after) + " limit " + MAX_EXAMINED + ") examined" + condition.sql()
				+ order(ordered) + " limit " + limit;
		return Statements.query(connection, sql, condition.parameters(), (row, number) -> event(row));
	}

	/**
	 * Returns where the examined rows end, or {@code null} if there are no further ones.
	 */
	private static @Nullable OrderedRow endOfExamined(Connection connection, boolean ordered, String table,
			OrderedRow after) {
		List<OrderedRow> last = Statements.query(connection,
				examined(ordered, table, "topic", after) + " limit 1 offset " + (MAX_EXAMINED - 1), List.of(),
				(row, number) -> new OrderedRow(row.getLong("key_hash"), row.getLong("id")));
		return last.isEmpty() ? null : last.get(0);
	}

	/**
	 * A range that every database searches by index.
	 */
	private static String examined(boolean ordered, String table, String columns, OrderedRow after) {
		String range = ordered
				? "key_hash >= %1$d and (key_hash > %1$d or id > %2$d)".formatted(after.keyHash(), after.row())
				: "id > " + after.row();
		return "select " + (ordered ? "key_hash" : "0 as key_hash") + ", id, " + columns + " from " + table + " where "
				+ range + order(ordered);
	}

	private static String order(boolean ordered) {
		return ordered ? " order by key_hash, id" : " order by id";
	}

	private static ListedEvent event(ResultSet row) throws SQLException {
		return new ListedEvent(new OrderedRow(row.getLong("key_hash"), row.getLong("id")),
				Objects.requireNonNullElse(row.getString("event_id"), ""), row.getString("type"),
				row.getString("topic"), row.getInt("attempts"), Duration.ofMillis(Math.max(0, row.getLong("age"))),
				row.getBoolean("blocked") ? null : Duration.ofMillis(Math.max(0, row.getLong("due") / 1000)),
				row.getString("claim_id") != null, row.getString("last_error"), row.getLong("bytes"));
	}

	/**
	 * A page of events.
	 *
	 * @param events the events that match the filter
	 * @param next where the next page begins, or {@code null} if this is the last one; a
	 * page that examined its limit of rows can be empty without being the last one
	 */
	public record Page(List<ListedEvent> events, @Nullable OrderedRow next) {
	}

	/**
	 * An event, without its payload and its key.
	 *
	 * @param position where a page that begins after it begins
	 * @param id the id of the event, as it is stored
	 * @param type the type of the event
	 * @param topic the topic of the event
	 * @param attempts how many attempts have begun
	 * @param age how long ago it was appended, by the clock of the database
	 * @param availableIn how long until it is due, or its lease ends; zero if it is due,
	 * {@code null} if it waits for an operator
	 * @param leased whether an instance has leased it
	 * @param lastError why the last attempt failed, or {@code null} if none did
	 * @param payloadBytes the size of the payload in bytes, as it is stored
	 */
	public record ListedEvent(OrderedRow position, String id, String type, String topic, int attempts, Duration age,
			@Nullable Duration availableIn, boolean leased, @Nullable String lastError, long payloadBytes) {
	}

}
