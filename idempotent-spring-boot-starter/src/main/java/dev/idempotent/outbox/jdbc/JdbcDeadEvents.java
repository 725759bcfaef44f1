package dev.idempotent.outbox.jdbc;

import java.sql.Connection;
import java.util.List;
import java.util.function.Function;

import javax.sql.DataSource;

import dev.idempotent.jdbc.NonTransactionalConnections;
import dev.idempotent.outbox.DeadEvent;
import dev.idempotent.outbox.DeadEvents;
import dev.idempotent.outbox.DeadFilter;

/**
 * The dead events of a {@link JdbcOutboxStore}. Moves and deletes them in batches, each
 * in a transaction of its own.
 */
public final class JdbcDeadEvents implements DeadEvents {

	private static final int BATCH = 500;

	private final NonTransactionalConnections connections;

	private final DetectedDialect dialect;

	private final OutboxTables tables;

	/**
	 * Creates it.
	 * @param dataSource the one of the store
	 * @param tables the tables of the store
	 */
	public JdbcDeadEvents(DataSource dataSource, OutboxTables tables) {
		this.connections = new NonTransactionalConnections(dataSource);
		this.dialect = new DetectedDialect(this.connections);
		this.tables = tables;
	}

	@Override
	public List<DeadEvent> list(DeadFilter filter, long after, int limit) {
		DeadRows rows = rows();
		return this.connections.run((connection) -> rows.read(connection, filter, after, limit));
	}

	@Override
	public int retry(DeadFilter filter) {
		return eachBatch(filter, DeadRows::revive);
	}

	@Override
	public int discard(DeadFilter filter) {
		return eachBatch(filter, DeadRows::delete);
	}

	/**
	 * Upwards only: an event that dies again comes back to its own row.
	 */
	private int eachBatch(DeadFilter filter, Step step) {
		DeadRows rows = rows();
		int done = 0;
		long after = 0;
		List<Long> batch;
		do {
			batch = new RepeatedTransaction(this.connections).run(batch(rows, filter, after, step));
			done += batch.size();
			after = batch.isEmpty() ? after : batch.get(batch.size() - 1);
		}
		while (batch.size() == BATCH);
		return done;
	}

	private static Function<Connection, List<Long>> batch(DeadRows rows, DeadFilter filter, long after, Step step) {
		return (connection) -> {
			List<Long> locked = rows.lock(connection, filter, after, BATCH);
			step.take(rows, connection, locked);
			return locked;
		};
	}

	private DeadRows rows() {
		return new DeadRows(this.dialect.get(), this.tables);
	}

	/**
	 * What to do with locked rows.
	 */
	private interface Step {

		void take(DeadRows rows, Connection connection, List<Long> locked);

	}

}
