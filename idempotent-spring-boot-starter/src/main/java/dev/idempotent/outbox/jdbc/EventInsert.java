package dev.idempotent.outbox.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;

import dev.idempotent.jdbc.Database;
import dev.idempotent.jdbc.Statements;
import dev.idempotent.outbox.SerializedEvent;
import dev.idempotent.outbox.jdbc.EventTable.QueuedEvent;
import dev.idempotent.outbox.jdbc.EventTable.Row;
import org.jspecify.annotations.Nullable;
import org.springframework.dao.DataIntegrityViolationException;
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

	private static final String PACKET = "select @@max_allowed_packet";

	private final Database database;

	private final String into;

	private final String row;

	private final String select;

	/**
	 * Creates an insert.
	 * @param delayed whether each row has the milliseconds until it is due
	 */
	EventInsert(Database database, String table, boolean delayed) {
		this.database = database;
		this.into = "insert into " + table + " (lane, " + EventRow.COLUMNS + (delayed ? ", due_at" : "") + ") values ";
		this.row = "(?, " + EventRow.PARAMETERS + (delayed ? ", " + database.millisFromNow() : "") + ")";
		this.select = "select id, event_id from " + table + " where id >= ? and event_id in (";
	}

	/**
	 * Inserts events in their order.
	 * @return their row ids, in the same order
	 */
	List<Long> insert(Connection connection, List<NewRow> rows) {
		List<Long> ids = new ArrayList<>(rows.size());
		int from = 0;
		while (from < rows.size()) {
			int to = end(rows, from);
			if (this.database == Database.MYSQL && bytes(rows.get(from).event()) > BYTES) {
				checkPacket(connection, rows.get(from).event());
			}
			ids.addAll(insertChunk(connection, rows.subList(from, to)));
			from = to;
		}
		return ids;
	}

	/**
	 * Returns the end of the statement that begins with an event and has at least that
	 * one.
	 */
	private static int end(List<NewRow> rows, int from) {
		int to = from + 1;
		long left = BYTES - bytes(rows.get(from).event());
		while (to < rows.size() && to - from < ROWS && bytes(rows.get(to).event()) <= left) {
			left -= bytes(rows.get(to).event());
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

	/**
	 * Rejects an event that exceeds the limit of MySQL and MariaDB for one statement.
	 * They close the connection of a client that exceeds it, without an error.
	 */
	private static void checkPacket(Connection connection, SerializedEvent event) {
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

	private List<Long> insertChunk(Connection connection, List<NewRow> rows) {
		String sql = this.into + (this.row + ", ").repeat(rows.size() - 1) + this.row;
		String[] generated = (this.database == Database.MYSQL) ? new String[] { "id" }
				: new String[] { "id", "event_id" };
		try (PreparedStatement statement = connection.prepareStatement(sql, generated)) {
			List<@Nullable Object> parameters = new ArrayList<>();
			for (NewRow each : rows) {
				parameters.add(each.lane());
				EventRow.addTo(parameters, each.event(), this.database);
				if (each.delayMillis() > 0) {
					parameters.add(each.delayMillis());
				}
			}
			Statements.bind(statement, parameters);
			statement.executeUpdate();
			Map<UUID, Long> ids = ids(connection, statement, rows);
			return rows.stream().map((each) -> known(ids.get(each.event().id()))).toList();
		}
		catch (SQLException ex) {
			throw Statements.translate(this.into, ex);
		}
	}

	private static Long known(@Nullable Long id) {
		if (id == null) {
			throw new IncorrectUpdateSemanticsDataAccessException(
					"The database inserted an event without returning its row; is there a trigger on the table?");
		}
		return id;
	}

	/**
	 * The rows by event: the database may return them in any order.
	 */
	private Map<UUID, Long> ids(Connection connection, PreparedStatement inserted, List<NewRow> rows)
			throws SQLException {
		Map<UUID, Long> ids = new HashMap<>();
		try (ResultSet keys = inserted.getGeneratedKeys()) {
			if (this.database != Database.MYSQL) {
				while (keys.next()) {
					ids.put(EventRow.idOf(keys), keys.getLong(1));
				}
				return ids;
			}
			for (NewRow row : rows) {
				if (keys.next()) {
					ids.put(row.event().id(), keys.getLong(1));
				}
			}
		}
		return (ids.size() == 1 && rows.size() > 1) ? from(connection, ids.values().iterator().next(), rows) : ids;
	}

	/**
	 * MySQL returns the rows of one insert in its order, but the MariaDB driver returns
	 * only the first by default.
	 */
	private Map<UUID, Long> from(Connection connection, long first, List<NewRow> rows) {
		String sql = this.select + "?, ".repeat(rows.size() - 1) + "?) order by id limit " + rows.size();
		List<Object> parameters = new ArrayList<>(List.of(first));
		rows.forEach((row) -> parameters.add(this.database.parameter(row.event().id())));
		Map<UUID, Long> ids = new HashMap<>();
		Statements
			.query(connection, sql, parameters,
					(row, number) -> Map.entry(UUID.fromString(row.getString("event_id")), row.getLong("id")))
			.forEach((row) -> ids.put(row.getKey(), row.getValue()));
		return ids;
	}

	/**
	 * A row to insert.
	 *
	 * @param event as it is stored
	 * @param ordered whether the events of its key share its lane
	 * @param delayMillis until it is due; 0 for an event without a delay
	 */
	record NewRow(long lane, SerializedEvent event, boolean ordered, long delayMillis) {

		/**
		 * The row with the id that the database has given it.
		 */
		Row appended(long id) {
			String topic = this.event.topic();
			QueuedEvent alone = (this.ordered && this.event.key() != null) ? null
					: new QueuedEvent(this.lane, id, 0, topic, null, bytes(), true, false, true, false, null);
			return new Row(this.lane, id, topic, alone);
		}

		private long bytes() {
			long bytes = this.event.payload().length;
			for (Map.Entry<String, String> header : this.event.storedHeaders().entrySet()) {
				bytes += header.getKey().length() + header.getValue().length();
			}
			return bytes;
		}

	}

}
