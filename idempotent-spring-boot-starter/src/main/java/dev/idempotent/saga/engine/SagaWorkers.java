package dev.idempotent.saga.engine;

import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.IntFunction;

import dev.idempotent.saga.engine.SagaStore.StoredSaga;
import dev.idempotent.work.OutageLog;
import dev.idempotent.work.Workers;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The threads that run sagas in the background: those that were started, and those whose
 * owner has died or released them.
 */
final class SagaWorkers {

	private static final Logger logger = LoggerFactory.getLogger(SagaWorkers.class);

	private static final Duration LONGEST_PAUSE = Duration.ofMillis(500);

	private static final int RENEWALS_PER_LEASE = 3;

	private static final int MOST_WAITING = 1000;

	private static final Duration SHUTDOWN = Duration.ofSeconds(20);

	private final SagaSettings settings;

	private final IntFunction<List<StoredSaga>> due;

	private final Consumer<StoredSaga> work;

	private final Semaphore free;

	private final Queue<Runnable> waiting = new LinkedBlockingQueue<>(MOST_WAITING);

	private volatile boolean moreAreDue;

	private final ExecutorService workers;

	private final ScheduledExecutorService timers = Executors.newScheduledThreadPool(2, Workers.daemons("saga-timer-"));

	private final OutageLog outage = new OutageLog(logger, "Sagas that are due could not be read; trying again",
			"Sagas that are due are read again");

	/**
	 * Creates workers that are not started.
	 * @param due takes over at most the given number of sagas
	 * @param work runs a saga that was taken over
	 */
	SagaWorkers(SagaSettings settings, IntFunction<List<StoredSaga>> due, Consumer<StoredSaga> work) {
		this.settings = settings;
		this.due = due;
		this.work = work;
		this.free = new Semaphore(settings.workers());
		this.workers = Executors.newCachedThreadPool(Workers.daemons("saga-"));
	}

	void start(Runnable renewal) {
		long renewed = Math.max(1, this.settings.lease().toMillis() / RENEWALS_PER_LEASE);
		Future<?> unusedRenewals = this.timers.scheduleWithFixedDelay(renewal, renewed, renewed, TimeUnit.MILLISECONDS);
		long polled = Math.max(1, Math.min(LONGEST_PAUSE.toMillis(), renewed));
		Future<?> unusedPolls = this.timers.scheduleWithFixedDelay(this::poll, 0, polled, TimeUnit.MILLISECONDS);
	}

	/**
	 * Runs a task on a worker thread as soon as one is free. If too many tasks wait, it
	 * is left to those who find its saga when it is due.
	 */
	void submit(Runnable task) {
		if (this.waiting.offer(task)) {
			runWaiting();
		}
	}

	/**
	 * Looks again after it has returned a permit: a task that came meanwhile has not got
	 * it.
	 */
	private void runWaiting() {
		while (!this.waiting.isEmpty() && this.free.tryAcquire()) {
			Runnable task = this.waiting.poll();
			if (task != null) {
				execute(task);
			}
			else {
				this.free.release();
			}
		}
	}

	private void release(int permits) {
		this.free.release(permits);
		runWaiting();
	}

	/**
	 * Waits until all tasks have ended, or for 20 seconds. Their leases are renewed
	 * meanwhile.
	 */
	void close() {
		this.workers.shutdown();
		try {
			if (!this.workers.awaitTermination(SHUTDOWN.toMillis(), TimeUnit.MILLISECONDS)) {
				logger.warn("Sagas are still running after {}; another instance takes them over when their leases "
						+ "have ended", SHUTDOWN);
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
		this.timers.shutdown();
	}

	boolean isClosing() {
		return this.workers.isShutdown();
	}

	private void poll() {
		if (isClosing()) {
			return;
		}
		long start = System.nanoTime();
		int permits = this.free.drainPermits();
		try {
			if (permits > 0) {
				List<StoredSaga> taken = this.due.apply(permits);
				this.moreAreDue = taken.size() == permits;
				permits -= taken.size();
				taken.forEach((saga) -> execute(() -> this.work.accept(saga)));
			}
			this.outage.succeeded(start);
		}
		// An error would end the schedule.
		catch (RuntimeException | Error ex) {
			this.outage.failed(start, ex);
		}
		finally {
			release(permits);
		}
	}

	/**
	 * Runs a task that has a permit.
	 */
	private void execute(Runnable task) {
		try {
			this.workers.execute(() -> {
				try {
					task.run();
				}
				catch (RuntimeException | Error ex) {
					logger.warn("A saga could not be run in the background: {}. It is taken over when it is due",
							OutageLog.reason(ex));
					logger.debug("The stack trace of the failure above", ex);
				}
				finally {
					release(1);
					pollAgain();
				}
			});
		}
		catch (RejectedExecutionException ex) {
			// The process is stopping; another one takes the saga over.
			this.free.release();
		}
	}

	/**
	 * Uses a worker that has become free, without waiting for the next poll.
	 */
	private void pollAgain() {
		if (this.moreAreDue && !isClosing()) {
			this.moreAreDue = false;
			try {
				this.timers.execute(this::poll);
			}
			catch (RejectedExecutionException ex) {
				logger.debug("The workers of sagas are stopping");
			}
		}
	}

}
