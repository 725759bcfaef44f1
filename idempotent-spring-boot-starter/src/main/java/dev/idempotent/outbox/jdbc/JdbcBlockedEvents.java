package dev.idempotent.outbox.jdbc;


import javax.sql.DataSource;

import dev.idempotent.outbox.DeadEvents.DeadFilter;

/**
 * The ordered events without a next attempt that block their keys until an operator acts.
 * Changes them in batches, each in a transaction of its own; completed batches stay
 * committed. Failures are {@link org.springframework.dao.DataAccessException}s.
 */
public final class JdbcBlockedEvents {

	public JdbcBlockedEvents(DataSource dataSource, OutboxTables tables) {
	}

	public int retry(DeadFilter filter) {
		throw new UnsupportedOperationException();
	}

	public int skip(DeadFilter filter) {
		throw new UnsupportedOperationException();
	}

	public int discard(DeadFilter filter) {
		throw new UnsupportedOperationException();
	}

}
