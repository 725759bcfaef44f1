package dev.idempotent.outbox.jdbc;

import javax.sql.DataSource;

import dev.idempotent.outbox.OutboxSummary;

/**
 * Reads the state of the outbox. Counts up to a limit, in one statement without locks.
 */
public final class JdbcOutboxReader {

	public JdbcOutboxReader(DataSource dataSource, OutboxTables tables) {
	}

	public OutboxSummary read() {
		throw new UnsupportedOperationException();
	}

}
