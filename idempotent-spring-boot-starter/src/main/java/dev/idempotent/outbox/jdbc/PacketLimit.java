package dev.idempotent.outbox.jdbc;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

import dev.idempotent.jdbc.Statements;
import dev.idempotent.outbox.SerializedEvent;
import org.springframework.dao.DataIntegrityViolationException;

/**
 * What MySQL and MariaDB take in one statement. They end the connection of a client that
 * sends more, so that nothing tells why.
 */
final class PacketLimit {

	private static final String SQL = "select @@max_allowed_packet";

	private PacketLimit() {
	}

	/**
	 * Refuses an event that is larger.
	 * @throws DataIntegrityViolationException if it is
	 */
	static void check(Connection connection, SerializedEvent event) {
		try (Statement statement = connection.createStatement(); ResultSet row = statement.executeQuery(SQL)) {
			if (row.next() && written(event.payload()) >= row.getLong(1)) {
				throw new DataIntegrityViolationException(
						("An event of type '%s' is larger than the database takes: its payload has %d bytes, and "
								+ "max_allowed_packet is %d. Keep the content elsewhere and append a reference to it, "
								+ "or raise max_allowed_packet")
							.formatted(event.type(), event.payload().length, row.getLong(1)));
			}
		}
		catch (SQLException ex) {
			throw Statements.translate(SQL, ex);
		}
	}

	/**
	 * Drivers write some bytes as two.
	 */
	private static long written(byte[] payload) {
		long length = payload.length;
		for (byte each : payload) {
			length += (each == 0 || each == '\'' || each == '"' || each == '\\') ? 1 : 0;
		}
		return length;
	}

}
