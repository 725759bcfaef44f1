package dev.idempotent.outbox.jdbc;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

import javax.sql.DataSource;

import dev.idempotent.jdbc.NonTransactionalConnections;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.dao.DataAccessException;
import org.springframework.dao.PessimisticLockingFailureException;

/**
 * Deletes events that have been dead for too long, now and then and in batches. Any
 * number of instances may do so at once: each leaves alone what another one holds.
 */
public final class JdbcDeadEventSweeper implements AutoCloseable {

	private static final Logger logger = LoggerFactory.getLogger(JdbcDeadEventSweeper.class);

	private static final int BATCH = 500;

	private static final Duration LONGEST_INTERVAL = Duration.ofMinutes(10);

	private static final Duration LONGEST_BATCH = Duration.ofSeconds(10);

	private final NonTransactionalConnections connections;

	private final DetectedDialect dialect;

	private final OutboxTables tables;

	private final Duration retention;

	private final ScheduledExecutorService scheduler = Executors.newSingleThreadScheduledExecutor((task) -> {
		Thread thread = new Thread(task, "outbox-sweeper");
		thread.setDaemon(true);
		return thread;
	});

	private boolean failing;

	private volatile boolean closed;

	/**
	 * Creates a sweeper that does not run yet.
	 * @param dataSource the one of the store
	 * @param tables the tables of the store
	 * @param retention how long dead events are kept, at least one millisecond
	 */
	public JdbcDeadEventSweeper(DataSource dataSource, OutboxTables tables, Duration retention) {
		this.connections = new NonTransactionalConnections(dataSource);
		this.dialect = new DetectedDialect(this.connections);
		this.tables = tables;
		this.retention = retention;
	}

	/**
	 * Begins to sweep, on a thread of its own and until closed: every ten minutes, or as
	 * often as the retention ends if that is shorter. To be called once.
	 */
	public void start() {
		Duration interval = (this.retention.compareTo(LONGEST_INTERVAL) < 0) ? this.retention : LONGEST_INTERVAL;
		Future<?> unused = this.scheduler.scheduleWithFixedDelay(this::sweepLogged, interval.toMillis(),
				interval.toMillis(), TimeUnit.MILLISECONDS);
	}

	/**
	 * Deletes every event that has been dead for too long and that nobody holds.
	 * @return how many there were
	 * @throws DataAccessException if the database did not do so
	 */
	public int sweep() {
		DeadRows rows = new DeadRows(this.dialect.get(), this.tables);
		int swept = 0;
		int batch;
		do {
			batch = new RepeatedTransaction(this.connections).run((connection) -> {
				List<Long> old = rows.lockOlderThan(connection, this.retention, BATCH);
				rows.delete(connection, old);
				return old.size();
			});
			swept += batch;
		}
		while (batch == BATCH && !this.closed);
		return swept;
	}

	/**
	 * Ends the sweeping, after the batch that is under way.
	 */
	@Override
	public void close() {
		this.closed = true;
		// No interrupt: an embedded H2 would take it for the end of its file.
		this.scheduler.shutdown();
		try {
			if (!this.scheduler.awaitTermination(LONGEST_BATCH.toMillis(), TimeUnit.MILLISECONDS)) {
				logger.warn("The last sweep of dead events has not ended yet");
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	private void sweepLogged() {
		try {
			int swept = sweep();
			if (swept > 0) {
				logger.info("{} events that had been dead for {} were deleted (idempotent.outbox.dead-retention)",
						swept, this.retention);
			}
			this.failing = false;
		}
		catch (PessimisticLockingFailureException ex) {
			logger.debug("Another transaction got in the way; sweeping again later", ex);
		}
		// An error that ended the schedule would end all sweeping for good.
		catch (RuntimeException | Error ex) {
			if (!this.failing) {
				logger.warn("Dead events could not be deleted; trying again and again", ex);
			}
			this.failing = true;
		}
	}

}
