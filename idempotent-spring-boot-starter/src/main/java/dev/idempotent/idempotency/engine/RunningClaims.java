package dev.idempotent.idempotency.engine;

import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

import dev.idempotent.idempotency.Claim;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.work.Backoff;

/**
 * The keys whose work this process runs, and the callers that wait for a key. A run of
 * this process wakes its waiters when it ends; a run elsewhere is polled with growing
 * pauses.
 */
final class RunningClaims {

	private static final int MAX_WAITERS = 64;

	private static final Backoff PAUSES = new Backoff(Duration.ofMillis(50), Duration.ofSeconds(1));

	private final Map<IdempotencyKey, Run> running = new ConcurrentHashMap<>();

	private final Set<IdempotencyKey> reserved = ConcurrentHashMap.newKeySet();

	private final Semaphore waiters = new Semaphore(MAX_WAITERS);

	/**
	 * Records the start of a run.
	 * @return the argument for {@link #end}
	 */
	Run begin(IdempotencyKey key) {
		Run run = new Run(System.nanoTime(), new CountDownLatch(1));
		this.running.put(key, run);
		return run;
	}

	/**
	 * Wakes the waiters of this run only: its key may have been taken over by another.
	 */
	void end(IdempotencyKey key, Run run) {
		this.running.remove(key, run);
		run.ended().countDown();
	}

	int count() {
		return this.running.size();
	}

	/**
	 * Returns the age of the oldest run in nanoseconds, or 0 without one.
	 */
	long oldest(long now) {
		return this.running.values().stream().mapToLong((run) -> now - run.start()).max().orElse(0);
	}

	/**
	 * Reserves a key, so that one claimant of this process at a time claims it in a
	 * database.
	 * @return {@code false} if another claimant has reserved it
	 */
	boolean reserve(IdempotencyKey key) {
		return this.reserved.add(key);
	}

	void free(IdempotencyKey key) {
		this.reserved.remove(key);
	}

	/**
	 * Repeats a claim until the key is no longer pending.
	 * @param claim the first outcome, which is returned unless it is pending
	 * @param claimAgain claims the key
	 * @param timeout how long to wait at most
	 * @return the last outcome; pending after the timeout or if too many callers wait
	 */
	Claim await(IdempotencyKey key, Claim claim, Supplier<Claim> claimAgain, Duration timeout) {
		if (!claim.isPending() || !this.waiters.tryAcquire()) {
			return claim;
		}
		try {
			return claimUntilSettled(key, claim, claimAgain, System.nanoTime() + timeout.toNanos());
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			return claim;
		}
		finally {
			this.waiters.release();
		}
	}

	private Claim claimUntilSettled(IdempotencyKey key, Claim pending, Supplier<Claim> claimAgain, long deadline)
			throws InterruptedException {
		Claim claim = pending;
		int polls = 0;
		while (claim.isPending()) {
			long left = deadline - System.nanoTime();
			if (left <= 0) {
				return claim;
			}
			Run here = this.running.get(key);
			if (here != null) {
				boolean unused = here.ended().await(left, TimeUnit.NANOSECONDS);
			}
			else {
				polls++;
				TimeUnit.NANOSECONDS.sleep(Math.min(left, PAUSES.after(polls).toNanos()));
			}
			claim = claimAgain.get();
		}
		return claim;
	}

	/**
	 * A run in progress.
	 *
	 * @param start its start in nanoseconds
	 * @param ended released at its end
	 */
	record Run(long start, CountDownLatch ended) {
	}

}
