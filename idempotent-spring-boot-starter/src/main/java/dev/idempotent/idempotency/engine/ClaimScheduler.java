package dev.idempotent.idempotency.engine;

import java.time.Duration;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

import dev.idempotent.idempotency.IdempotencyObserver;
import dev.idempotent.idempotency.IdempotencyObserver.StoreResult;
import dev.idempotent.idempotency.IdempotencyObserver.StoreVerb;
import dev.idempotent.idempotency.IdempotencyStoreUnavailableException;
import dev.idempotent.concurrent.Backoff;
import dev.idempotent.concurrent.Workers;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs lease renewals, and retries steps until the store is reachable. Bounded in memory
 * and in time.
 */
class ClaimScheduler implements AutoCloseable {

	private static final Logger logger = LoggerFactory.getLogger(ClaimScheduler.class);

	private static final int THREADS = 2;

	private static final int MAX_RETRIED_STEPS = 10_000;

	private static final int MAX_RETRIED_BYTES = 16 * 1024 * 1024;

	private static final Backoff BACKOFF = new Backoff(Duration.ofMillis(100), Duration.ofSeconds(5));

	private final ScheduledThreadPoolExecutor scheduler;

	private final Duration retryFor;

	private final IdempotencyObserver observer;

	private final Semaphore bytes = new Semaphore(MAX_RETRIED_BYTES);

	private final Semaphore steps = new Semaphore(MAX_RETRIED_STEPS);

	private final Set<Retry> retries = ConcurrentHashMap.newKeySet();

	ClaimScheduler(Duration retryFor, IdempotencyObserver observer) {
		this.retryFor = retryFor;
		this.observer = observer;
		this.scheduler = new ScheduledThreadPoolExecutor(THREADS, Workers.daemons("idempotency-"));
		this.scheduler.setRemoveOnCancelPolicy(true);
		this.scheduler.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
	}

	/**
	 * Runs a step of the lease renewals later; never runs it once this is closed.
	 */
	Future<?> after(long nanos, Runnable step) {
		try {
			return this.scheduler.schedule(() -> runLogged(step), nanos, TimeUnit.NANOSECONDS);
		}
		catch (RejectedExecutionException ex) {
			logger.debug("Closed before a lease was renewed", ex);
			return CompletableFuture.completedFuture(null);
		}
	}

	/**
	 * Retries a step with growing delays while the store is unreachable.
	 * @param since when the key was claimed, in nanoseconds
	 * @return {@code false} if too many steps are being retried
	 */
	boolean retry(StoreVerb verb, int size, long since, Runnable step) {
		if (!this.bytes.tryAcquire(size)) {
			logger
				.warn("The responses that wait for the store exceed {} bytes; of the next one, only the fact that the "
						+ "work was done will be stored", MAX_RETRIED_BYTES);
			return false;
		}
		if (!this.steps.tryAcquire()) {
			this.bytes.release(size);
			logger.warn(
					"More than {} keys are waiting for the store; the next one stays claimed until its lease expires",
					MAX_RETRIED_STEPS);
			return false;
		}
		Retry retry = new Retry(verb, size, since, step);
		this.retries.add(retry);
		retry.schedule();
		return true;
	}

	/**
	 * Returns the number of steps that are being retried.
	 */
	int waiting() {
		return this.retries.size();
	}

	/**
	 * Returns the age of the oldest key among them in nanoseconds, or 0 without one.
	 */
	long oldest(long now) {
		return this.retries.stream().mapToLong((retry) -> now - retry.since).max().orElse(0);
	}

	@Override
	public void close() {
		this.scheduler.shutdownNow();
		for (Retry retry : this.retries) {
			if (!retry.runLast()) {
				logger.warn(
						"Closed while the store is unreachable; up to {} keys stay claimed until their leases expire",
						this.retries.size());
				return;
			}
		}
	}

	private void runLogged(Runnable step) {
		try {
			step.run();
		}
		// The future is not read, so the failure would be lost.
		catch (Throwable ex) {
			logRenewal(ex);
		}
	}

	private static void logRenewal(Throwable failure) {
		try {
			logger.error("A lease could not be renewed; the next renewal tries again", failure);
		}
		catch (Throwable ex) {
			// There is no memory to log it.
		}
	}

	private final class Retry implements Runnable {

		private final StoreVerb verb;

		private final int size;

		private final long since;

		private final Runnable step;

		private final long start = System.nanoTime();

		private int attempts;

		Retry(StoreVerb verb, int size, long since, Runnable step) {
			this.verb = verb;
			this.size = size;
			this.since = since;
			this.step = step;
		}

		void schedule() {
			this.attempts++;
			long millis = BACKOFF.after(this.attempts).toMillis();
			try {
				Future<?> unused = ClaimScheduler.this.scheduler.schedule(this, millis, TimeUnit.MILLISECONDS);
			}
			catch (RejectedExecutionException ex) {
				logger.debug("Closed before a step was retried", ex);
			}
		}

		@Override
		public void run() {
			try {
				attempt();
			}
			catch (IdempotencyStoreUnavailableException | Error ex) {
				if (System.nanoTime() - this.start < ClaimScheduler.this.retryFor.toNanos()) {
					schedule();
				}
				else {
					giveUp(ex);
				}
			}
			catch (RuntimeException ex) {
				giveUp(ex);
			}
		}

		/**
		 * Runs the step a last time.
		 * @return {@code false} if the store is unreachable, so that each further step
		 * would cost a timeout
		 */
		boolean runLast() {
			try {
				attempt();
			}
			catch (IdempotencyStoreUnavailableException ex) {
				return false;
			}
			catch (RuntimeException ex) {
				giveUp(ex);
			}
			return true;
		}

		private void attempt() {
			StoreResult result = StoreResult.FAILED;
			try {
				this.step.run();
				result = StoreResult.ANSWERED;
			}
			catch (IdempotencyStoreUnavailableException ex) {
				result = StoreResult.UNAVAILABLE;
				throw ex;
			}
			finally {
				ClaimScheduler.this.observer.settlementRetried(this.verb, result);
			}
			end();
		}

		private void giveUp(Throwable ex) {
			end();
			logger.error("Failed to {} a key in the idempotency store; it stays claimed until its lease expires",
					this.verb.name().toLowerCase(Locale.ROOT), ex);
		}

		private void end() {
			ClaimScheduler.this.retries.remove(this);
			ClaimScheduler.this.bytes.release(this.size);
			ClaimScheduler.this.steps.release();
		}

	}

}
