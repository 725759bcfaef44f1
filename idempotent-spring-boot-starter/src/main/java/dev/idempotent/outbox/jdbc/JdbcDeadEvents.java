package dev.idempotent.outbox.jdbc;

import java.time.Duration;
import java.util.List;

import javax.sql.DataSource;

import dev.idempotent.jdbc.TableSweeper;
import dev.idempotent.outbox.DeadEvents;

/**
 * The dead events of a {@link JdbcOutboxStore}. Moves and deletes them in batches, each
 * in a transaction of its own.
 */
public final class JdbcDeadEvents implements DeadEvents {

	public JdbcDeadEvents(DataSource dataSource, OutboxTables tables) {
	}

	@Override
	public List<DeadEvent> list(DeadFilter filter, long after, int limit) {
		throw new UnsupportedOperationException();
	}

	@Override
	public int retry(DeadFilter filter) {
		throw new UnsupportedOperationException();
	}

	@Override
	public int discard(DeadFilter filter) {
		throw new UnsupportedOperationException();
	}

	public TableSweeper sweeper(Duration retention) {
		throw new UnsupportedOperationException();
	}

}
