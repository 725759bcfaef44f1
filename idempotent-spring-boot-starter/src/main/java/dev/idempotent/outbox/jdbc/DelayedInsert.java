package dev.idempotent.outbox.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.util.List;

import dev.idempotent.jdbc.Database;
import dev.idempotent.jdbc.Statements;
import dev.idempotent.outbox.SerializedEvent;
import dev.idempotent.outbox.jdbc.EventInsert.InsertedRow;
import org.springframework.dao.DuplicateKeyException;

/**
 * Inserts events that are due later into the table of waiting events, so that searches
 * for pending events do not read them.
 */
final class DelayedInsert {

	private final EventInsert insert;

	private final EventMoves moves;

	DelayedInsert(Database database, OutboxTables tables) {
		this.insert = EventInsert.unordered(database, tables);
		this.moves = new EventMoves(database, tables);
	}

	/**
	 * Inserts events as pending ones, which gives them their rows, and moves them.
	 */
	void insert(Connection connection, List<InsertedRow> events) {
		List<Long> rows = this.insert.insert(connection, events).stream().map(SerializedEvent::sequence).toList();
		try {
			Savepoint inserted = connection.setSavepoint();
			try {
				this.moves.pendingToWaiting(connection, rows);
				connection.releaseSavepoint(inserted);
			}
			catch (DuplicateKeyException ex) {
				// The number of a row is in use. The relay moves the events later, and
				// assigns other numbers.
				connection.rollback(inserted);
			}
		}
		catch (SQLException ex) {
			throw Statements.translate("", ex);
		}
	}

}
