package dev.idempotent.outbox.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;

import dev.idempotent.jdbc.Statements;
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

	private final OutboxDialect dialect;

	private final String table;

	private final String into;

	private final String row;

	private final @Nullable Instant now;

	/**
	 * Creates an insert.
	 * @param now the time from which each row has the milliseconds until it is due, or
	 * {@code null} if the rows are due at once
	 */
	EventInsert(OutboxDialect dialect, String table, @Nullable Instant now) {
		this.dialect = dialect;
		this.table = table;
		this.into = "insert into " + table + " (lane, " + EventRow.COLUMNS + ((now != null) ? ", due_at" : "")
				+ ") values ";
		this.row = "(?, " + EventRow.PARAMETERS + ((now != null) ? ", " + dialect.database().millisFromNow() : "")
				+ ")";
		this.now = now;
	}

	/**
	 * Inserts events in their order.
	 * @return their row ids, in the same order
	 */
	List<Long> insert(Connection connection, List<NewEvent> rows) {
		List<Long> ids = new ArrayList<>(rows.size());
		int from = 0;
		while (from < rows.size()) {
			int to = end(rows, from);
			if (bytes(rows.get(from).event()) > BYTES) {
				this.dialect.requireSize(connection, rows.get(from).event());
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
	private static int end(List<NewEvent> rows, int from) {
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

	private List<Long> insertChunk(Connection connection, List<NewEvent> rows) {
		String sql = this.into + (this.row + ", ").repeat(rows.size() - 1) + this.row;
		try (PreparedStatement statement = connection.prepareStatement(sql, this.dialect.generatedColumns())) {
			List<@Nullable Object> parameters = new ArrayList<>();
			for (NewEvent each : rows) {
				parameters.add(each.lane());
				EventRow.addTo(parameters, each.event(), this.dialect.database());
				if (this.now != null) {
					parameters.add(each.delayMillis(this.now));
				}
			}
			Statements.bind(statement, parameters);
			statement.executeUpdate();
			Map<UUID, Long> ids = this.dialect.insertedRows(connection, statement, this.table,
					rows.stream().map(NewEvent::event).toList());
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

}
