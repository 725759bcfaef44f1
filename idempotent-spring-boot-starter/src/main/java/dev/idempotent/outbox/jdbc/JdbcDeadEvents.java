package dev.idempotent.outbox.jdbc;

import java.sql.Connection;
import java.time.Duration;
import java.util.List;
import java.util.function.BiFunction;

import javax.sql.DataSource;

import dev.idempotent.jdbc.TableSweeper;
import dev.idempotent.outbox.DeadEvents;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The dead events of a {@link JdbcOutboxStore}. Moves and deletes them in batches, each
 * in a transaction of its own.
 */
public final class JdbcDeadEvents implements DeadEvents {

	private static final Logger logger = LoggerFactory.getLogger(JdbcDeadEvents.class);

	private static final int BATCH = 500;

	private static final Duration LONGEST_INTERVAL = Duration.ofMinutes(10);

	private final OutboxDatabase database;

	private final OutboxTables tables;

	/**
	 * Creates the dead events of a store.
	 * @param dataSource the data source of the store
	 * @param tables the tables of the store
	 */
	public JdbcDeadEvents(DataSource dataSource, OutboxTables tables) {
		this.database = new OutboxDatabase(dataSource);
		this.tables = tables;
	}

	@Override
	public List<DeadEvent> list(DeadFilter filter, long after, int limit) {
		DeadRows rows = rows();
		return this.database.run((connection) -> rows.read(connection, filter, after, limit));
	}

	@Override
	public int retry(DeadFilter filter) {
		DeadRows rows = rows();
		EventMoves moves = new EventMoves(this.database.kind(), this.tables);
		return eachBatch((after, last) -> this.database.move(moves, (move, connection) -> {
			List<Long> locked = rows.lock(connection, filter, after, last, BATCH);
			move.retryDead(connection, locked);
			rows.delete(connection, locked);
			return locked;
		}));
	}

	@Override
	public int discard(DeadFilter filter) {
		DeadRows rows = rows();
		return eachBatch((after, last) -> this.database.runInTransaction(
				(connection) -> delete(connection, rows, rows.lock(connection, filter, after, last, BATCH))));
	}

	/**
	 * Creates a sweeper of events that have been dead for too long.
	 * @param retention how long dead events are kept, at least one millisecond
	 * @return deletes them every ten minutes, or at the interval of the retention if that
	 * is shorter; not started
	 */
	public TableSweeper sweeper(Duration retention) {
		Duration interval = (retention.compareTo(LONGEST_INTERVAL) < 0) ? retention : LONGEST_INTERVAL;
		return new TableSweeper("outbox-sweeper", "Dead events", interval, (limit) -> sweep(retention, limit),
				(swept) -> {
					if (swept > 0) {
						logger.info("Deleted {} events that had been dead for {} (idempotent.outbox.dead-retention)",
								swept, retention);
					}
				});
	}

	private int sweep(Duration retention, int limit) {
		DeadRows rows = rows();
		return this.database
			.runInTransaction(
					(connection) -> delete(connection, rows, rows.lockOlderThan(connection, retention, limit)))
			.size();
	}

	private static List<Long> delete(Connection connection, DeadRows rows, List<Long> locked) {
		rows.delete(connection, locked);
		return locked;
	}

	/**
	 * Not beyond the last row at the beginning: an event that becomes dead again gets a
	 * new row behind it.
	 */
	private int eachBatch(BiFunction<Long, Long, List<Long>> step) {
		long last = this.database.run(rows()::last);
		int done = 0;
		long after = 0;
		List<Long> batch;
		do {
			batch = step.apply(after, last);
			done += batch.size();
			after = batch.isEmpty() ? after : batch.get(batch.size() - 1);
		}
		while (batch.size() == BATCH);
		return done;
	}

	private DeadRows rows() {
		return new DeadRows(this.database.kind(), this.tables);
	}

}
