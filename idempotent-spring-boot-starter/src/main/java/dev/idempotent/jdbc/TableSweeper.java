package dev.idempotent.jdbc;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.IntConsumer;
import java.util.function.IntUnaryOperator;

import dev.idempotent.concurrent.OutageLog;
import dev.idempotent.concurrent.Workers;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.dao.DataAccessException;
import org.springframework.dao.PessimisticLockingFailureException;

/**
 * Deletes rows that are no longer needed, at an interval and in batches. Several
 * instances may sweep the same table concurrently if a batch skips locked rows.
 */
public final class TableSweeper implements AutoCloseable {

	private static final Logger logger = LoggerFactory.getLogger(TableSweeper.class);

	private static final int BATCH = 500;

	private static final Duration LONGEST_BATCH = Duration.ofSeconds(10);

	private final String thread;

	private final String rows;

	private final Duration interval;

	private final IntUnaryOperator batch;

	private final IntConsumer onSwept;

	private final OutageLog outage;

	private final Workers worker = new Workers(true);

	private final AtomicBoolean started = new AtomicBoolean();

	/**
	 * Creates a sweeper that is not started.
	 * @param thread the name of its thread
	 * @param rows what it deletes, as the subject of its log messages
	 * @param interval the pause after each sweep
	 * @param batch deletes at most as many rows as its argument, in one transaction, and
	 * returns how many
	 * @param onSwept called with the number of rows after each sweep
	 */
	public TableSweeper(String thread, String rows, Duration interval, IntUnaryOperator batch, IntConsumer onSwept) {
		this.thread = thread;
		this.rows = rows;
		this.interval = interval;
		this.batch = batch;
		this.onSwept = onSwept;
		this.outage = new OutageLog(logger, rows + " could not be deleted; trying again every " + interval,
				rows + " are deleted again");
	}

	/**
	 * Starts sweeping on a thread of its own, until it is closed. Has no effect if it has
	 * been called before.
	 */
	public void start() {
		if (this.started.compareAndSet(false, true)) {
			this.worker.start(this.thread, this::sweepLater,
					(failure) -> this.outage.failed(System.nanoTime(), failure));
		}
	}

	/**
	 * Deletes all rows that are no longer needed and not locked.
	 * @return the number of deleted rows
	 * @throws DataAccessException if the database failed
	 */
	public int sweep() {
		int swept = 0;
		int last;
		do {
			last = this.batch.applyAsInt(BATCH);
			swept += last;
		}
		while (last == BATCH && !this.worker.isStopped());
		return swept;
	}

	/**
	 * Stops sweeping after the current batch.
	 */
	@Override
	public void close() {
		if (!this.worker.stop(LONGEST_BATCH)) {
			logger.warn("{}: the last sweep did not end within {}", this.rows, LONGEST_BATCH);
		}
	}

	private void sweepLater() {
		this.worker.pause(this.interval);
		if (this.worker.isStopped()) {
			return;
		}
		long start = System.nanoTime();
		try {
			this.onSwept.accept(sweep());
			this.outage.succeeded(start);
		}
		catch (PessimisticLockingFailureException ex) {
			logger.debug("{}: the sweep conflicts with another transaction; trying again in {}", this.rows,
					this.interval, ex);
		}
	}

}
