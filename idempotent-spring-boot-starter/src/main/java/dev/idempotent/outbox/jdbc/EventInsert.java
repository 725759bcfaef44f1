package dev.idempotent.outbox.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;

import dev.idempotent.jdbc.Database;
import dev.idempotent.jdbc.Statements;
import dev.idempotent.outbox.OutboxStore.EventLease;
import dev.idempotent.outbox.SerializedEvent;
import org.jspecify.annotations.Nullable;
import org.springframework.dao.IncorrectUpdateSemanticsDataAccessException;

/**
 * Inserts events in few statements of many rows, and determines their rows.
 */
final class EventInsert {

	/**
	 * Far below the limits of drivers for parameters.
	 */
	private static final int ROWS = 500;

	/**
	 * Below the default limits of servers for one statement: at least 4 MB for MySQL and
	 * 16 MB for MariaDB.
	 */
	private static final long BYTES = 3_000_000;

	private final String into;

	private final String row;

	private final String select;

	private final Database database;

	private EventInsert(Database database, String table, String keyHash) {
		this.database = database;
		this.into = "insert into " + table + " (" + keyHash + EventColumn.list(EventColumn.APPENDED.stream())
				+ ", attempts, claim_id, claimed_by, available_at) values ";
		this.select = "select id, event_id from " + table + " where id >= ? and event_id in (";
		this.row = "(" + (keyHash.isEmpty() ? "" : "?, ") + "?, ".repeat(EventColumn.APPENDED.size()) + "?, ?, ?, "
				+ database.millisFromNow() + ")";
	}

	/**
	 * Returns inserts into the table of unordered events.
	 */
	static EventInsert unordered(Database database, OutboxTables tables) {
		return new EventInsert(database, tables.event(), "");
	}

	/**
	 * Returns inserts into the table of ordered events.
	 */
	static EventInsert ordered(Database database, OutboxTables tables) {
		return new EventInsert(database, tables.ordered(), "key_hash, ");
	}

	List<SerializedEvent> insert(Connection connection, List<InsertedRow> events) {
		List<SerializedEvent> rows = new ArrayList<>(events.size());
		int from = 0;
		while (from < events.size()) {
			int to = end(events, from);
			if (this.database == Database.MYSQL && bytes(events.get(from).event()) > BYTES) {
				PacketLimit.check(connection, events.get(from).event());
			}
			rows.addAll(insertChunk(connection, events.subList(from, to)));
			from = to;
		}
		return rows;
	}

	/**
	 * Returns the end of the statement that begins with an event and has at least that
	 * one.
	 */
	private static int end(List<InsertedRow> events, int from) {
		int to = from + 1;
		long left = BYTES - bytes(events.get(from).event());
		while (to < events.size() && to - from < ROWS && bytes(events.get(to).event()) <= left) {
			left -= bytes(events.get(to).event());
			to++;
		}
		return to;
	}

	/**
	 * The upper limit of the size: drivers of MySQL may escape bytes, and a character
	 * takes up to 4 bytes.
	 */
	private static long bytes(SerializedEvent event) {
		long characters = (long) event.topic().length() + event.type().length()
				+ ((event.key() != null) ? event.key().length() : 0);
		for (Map.Entry<String, String> header : event.storedHeaders().entrySet()) {
			characters += header.getKey().length() + header.getValue().length();
		}
		return 2L * event.payload().length + 4 * characters;
	}

	private List<SerializedEvent> insertChunk(Connection connection, List<InsertedRow> rows) {
		List<SerializedEvent> events = rows.stream().map(InsertedRow::event).toList();
		String sql = this.into + (this.row + ", ").repeat(events.size() - 1) + this.row;
		try (PreparedStatement statement = connection.prepareStatement(sql, generated())) {
			List<@Nullable Object> parameters = new ArrayList<>();
			rows.forEach((each) -> addRow(parameters, each));
			Statements.bind(statement, parameters);
			statement.executeUpdate();
			return withRows(rows, rows(connection, statement, events));
		}
		catch (SQLException ex) {
			throw Statements.translate(this.into, ex);
		}
	}

	private String[] generated() {
		return (this.database == Database.MYSQL) ? new String[] { "id" } : new String[] { "id", "event_id" };
	}

	private void addRow(List<@Nullable Object> parameters, InsertedRow inserted) {
		EventLease lease = inserted.lease();
		if (inserted.keyHash() != null) {
			parameters.add(inserted.keyHash());
		}
		for (EventColumn column : EventColumn.APPENDED) {
			Object value = column.of(inserted.event());
			parameters.add((value instanceof UUID id) ? this.database.parameter(id) : value);
		}
		parameters.add((lease != null) ? 1 : 0);
		parameters.add((lease != null) ? this.database.parameter(lease.claimId()) : null);
		parameters.add((lease != null) ? lease.owner() : null);
		parameters.add((lease != null) ? lease.duration().toMillis() : inserted.delayMillis());
	}

	/**
	 * The rows by event: the database may return them in any order.
	 */
	private Map<UUID, Long> rows(Connection connection, PreparedStatement inserted, List<SerializedEvent> events)
			throws SQLException {
		try (ResultSet keys = inserted.getGeneratedKeys()) {
			return (this.database == Database.MYSQL) ? inOrder(connection, keys, events) : byId(keys);
		}
	}

	private static Map<UUID, Long> byId(ResultSet keys) throws SQLException {
		Map<UUID, Long> rows = new HashMap<>();
		while (keys.next()) {
			rows.put(UUID.fromString(keys.getString(2)), keys.getLong(1));
		}
		return rows;
	}

	/**
	 * MySQL returns the rows of one insert in its order, but the MariaDB driver returns
	 * only the first by default.
	 */
	private Map<UUID, Long> inOrder(Connection connection, ResultSet keys, List<SerializedEvent> events)
			throws SQLException {
		Map<UUID, Long> rows = new HashMap<>();
		for (SerializedEvent event : events) {
			if (keys.next()) {
				rows.put(event.id(), keys.getLong(1));
			}
		}
		return (rows.size() == 1 && events.size() > 1) ? from(connection, rows.values().iterator().next(), events)
				: rows;
	}

	private Map<UUID, Long> from(Connection connection, long first, List<SerializedEvent> events) {
		String sql = this.select + "?, ".repeat(events.size() - 1) + "?) order by id limit " + events.size();
		List<Object> parameters = new ArrayList<>(List.of(first));
		events.forEach((event) -> parameters.add(this.database.parameter(event.id())));
		Map<UUID, Long> rows = new HashMap<>();
		Statements
			.query(connection, sql, parameters,
					(row, number) -> Map.entry(UUID.fromString(row.getString("event_id")), row.getLong("id")))
			.forEach((row) -> rows.put(row.getKey(), row.getValue()));
		return rows;
	}

	private static List<SerializedEvent> withRows(List<InsertedRow> events, Map<UUID, Long> rows) {
		return events.stream().map((inserted) -> {
			Long row = rows.get(inserted.event().id());
			if (row == null) {
				throw unknownRow();
			}
			return inserted.event().withRow(row, (inserted.lease() != null) ? 1 : 0);
		}).toList();
	}

	private static IncorrectUpdateSemanticsDataAccessException unknownRow() {
		return new IncorrectUpdateSemanticsDataAccessException(
				"The database inserted an event without returning its row; is there a trigger on the table?");
	}

	/**
	 * A row to insert.
	 *
	 * @param keyHash the hash of an ordered event, or {@code null}
	 * @param lease the lease, or {@code null} for none
	 * @param delayMillis when an event without a lease is due
	 */
	record InsertedRow(SerializedEvent event, @Nullable Long keyHash, @Nullable EventLease lease, long delayMillis) {

		InsertedRow(SerializedEvent event, @Nullable Long keyHash, @Nullable EventLease lease) {
			this(event, keyHash, lease, 0);
		}

	}

}
