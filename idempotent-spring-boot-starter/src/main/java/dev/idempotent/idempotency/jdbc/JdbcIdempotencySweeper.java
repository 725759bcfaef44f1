package dev.idempotent.idempotency.jdbc;

import java.time.Duration;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

import javax.sql.DataSource;

import dev.idempotent.jdbc.NonTransactionalConnections;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.dao.DataAccessException;
import org.springframework.dao.PessimisticLockingFailureException;

/**
 * Deletes the rows whose time has ended, now and then and in batches. Any number of nodes
 * may do so at once: each leaves alone what another one holds.
 */
final class JdbcIdempotencySweeper implements AutoCloseable {

	private static final Logger logger = LoggerFactory.getLogger(JdbcIdempotencySweeper.class);

	private static final int BATCH = 500;

	private static final Duration LONGEST_BATCH = Duration.ofSeconds(10);

	private final NonTransactionalConnections connections;

	private final ExpiredRecords records;

	private final Duration interval;

	private @Nullable ScheduledExecutorService scheduler;

	private boolean failing;

	private volatile boolean closed;

	/**
	 * Creates a sweeper that does not run yet.
	 * @param dataSource where the connections come from, one at a time
	 * @param table the name of the table
	 * @param interval how long to wait after each sweep
	 */
	JdbcIdempotencySweeper(DataSource dataSource, String table, Duration interval) {
		this.connections = new NonTransactionalConnections(dataSource);
		this.records = new ExpiredRecords(table);
		this.interval = interval;
	}

	/**
	 * Begins to sweep, on a thread of its own and until closed. Can be repeated.
	 */
	synchronized void start() {
		if (this.scheduler != null || this.closed) {
			return;
		}
		this.scheduler = Executors.newSingleThreadScheduledExecutor((task) -> {
			Thread thread = new Thread(task, "idempotency-sweeper");
			thread.setDaemon(true);
			return thread;
		});
		long nanos = Math.max(1, this.interval.toNanos());
		Future<?> unused = this.scheduler.scheduleWithFixedDelay(this::sweepLogged, nanos, nanos, TimeUnit.NANOSECONDS);
	}

	/**
	 * Deletes every expired row that nobody holds.
	 * @return how many rows there were
	 * @throws DataAccessException if the database did not do so
	 */
	int sweep() {
		int swept = 0;
		int batch;
		do {
			batch = this.connections.runInTransaction((connection) -> this.records.delete(connection, BATCH));
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
		ScheduledExecutorService running;
		synchronized (this) {
			running = this.scheduler;
		}
		if (running == null) {
			return;
		}
		// No interrupt: an embedded H2 would take it for the end of its file.
		running.shutdown();
		try {
			if (!running.awaitTermination(LONGEST_BATCH.toMillis(), TimeUnit.MILLISECONDS)) {
				logger.warn("The last sweep of idempotency keys has not ended yet");
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	private void sweepLogged() {
		try {
			int swept = sweep();
			logger.debug("Swept {} idempotency keys", swept);
			if (this.failing) {
				logger.info("Idempotency keys are swept again");
			}
			this.failing = false;
		}
		catch (PessimisticLockingFailureException ex) {
			logger.debug("Another transaction got in the way; sweeping again in {}", this.interval, ex);
		}
		catch (RuntimeException ex) {
			if (!this.failing) {
				logger.warn("Expired idempotency keys could not be deleted; trying again every {}", this.interval, ex);
			}
			this.failing = true;
		}
	}

}
