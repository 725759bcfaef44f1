package dev.idempotent.outbox.jdbc;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

import dev.idempotent.jdbc.Statements;
import dev.idempotent.outbox.SerializedEvent;
import org.springframework.dao.DataIntegrityViolationException;

/**
 * The limit of MySQL and MariaDB for one statement. They close the connection of a client
 * that exceeds it, without an error.
 */
final class PacketLimit {

	private static final String SQL = "select @@max_allowed_packet";

	private PacketLimit() {
	}

	/**
	 * Rejects an event that exceeds the limit.
	 * @throws DataIntegrityViolationException if it does
	 */
	static void check(Connection connection, SerializedEvent event) {
		try (Statement statement = connection.createStatement(); ResultSet row = statement.executeQuery(SQL)) {
			if (row.next() && written(event.payload()) >= row.getLong(1)) {
				throw new DataIntegrityViolationException(
						("An event of type '%s' is too large for the database: its payload has %d bytes, and "
								+ "max_allowed_packet is %d. Store the content elsewhere and append a reference to it, "
								+ "or increase max_allowed_packet")
							.formatted(event.type(), event.payload().length, row.getLong(1)));
			}
		}
		catch (SQLException ex) {
			throw Statements.translate(SQL, ex);
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

}
