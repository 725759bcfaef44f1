package dev.idempotent.idempotency.engine;

import java.time.Duration;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

import dev.idempotent.idempotency.Claim;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.concurrent.Backoff;
import org.jspecify.annotations.Nullable;

/**
 * The keys whose work this process runs, the keys of others that it refuses, and the
 * callers that wait for a key. A run of this process wakes its waiters when it ends; a
 * run elsewhere is polled with growing pauses.
 */
final class InFlightKeys {

	private static final int MAX_WAITERS = 64;

	private static final int MAX_REFUSED = 1000;

	private static final Backoff PAUSES = new Backoff(Duration.ofMillis(50), Duration.ofSeconds(1));

	private final Map<IdempotencyKey, Run> running = new ConcurrentHashMap<>();

	private final Set<IdempotencyKey> reserved = ConcurrentHashMap.newKeySet();

	private final Map<IdempotencyKey, Duration> refusing = new ConcurrentHashMap<>();

	private final Semaphore waiters = new Semaphore(MAX_WAITERS);

	private final @Nullable Runnable onUse;

	/**
	 * Creates claims that do not remember what they refuse.
	 */
	InFlightKeys() {
		this.onUse = null;
	}

	/**
	 * Creates claims.
	 * @param onUse called when a run begins or a request is refused
	 */
	InFlightKeys(Runnable onUse) {
		this.onUse = onUse;
	}

	/**
	 * Records the start of a run.
	 * @return the argument for {@link #end}
	 */
	Run begin(ClaimRequest request) {
		Run run = new Run(request, System.nanoTime(), new CountDownLatch(1));
		this.running.put(request.key(), run);
		if (this.onUse != null) {
			this.onUse.run();
		}
		return run;
	}

	/**
	 * Records that a request was refused because of a claim.
	 * @param lease how long the claim holds unless renewed
	 */
	void refuse(IdempotencyKey key, Duration lease) {
		if (this.onUse != null && lease.toMillis() > 0 && this.refusing.size() < MAX_REFUSED) {
			this.refusing.put(key, lease);
			this.onUse.run();
		}
	}

	/**
	 * Returns a copy of the refused keys that were not announced yet, with their leases.
	 */
	Map<IdempotencyKey, Duration> refusing() {
		return new HashMap<>(this.refusing);
	}

	void announced(Set<IdempotencyKey> refused) {
		this.refusing.keySet().removeAll(refused);
	}

	/**
	 * Returns whether there is a run, or a refused key to be announced.
	 */
	boolean isInUse() {
		return !this.running.isEmpty() || !this.refusing.isEmpty();
	}

	/**
	 * Wakes the waiters of this run only: its key may have been taken over by another.
	 */
	void end(Run run) {
		this.running.remove(run.request().key(), run);
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
	 * Returns the oldest runs, in the order of their start.
	 * @param age how long a run has lasted at least
	 */
	List<Run> oldest(int atMost, Duration age) {
		long now = System.nanoTime();
		return this.running.values()
			.stream()
			.filter((run) -> now - run.start() >= age.toNanos())
			.sorted(Comparator.comparingLong((run) -> run.start() - now))
			.limit(atMost)
			.toList();
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
	 * @param request what has claimed its key
	 * @param start its start in nanoseconds
	 * @param ended released at its end
	 */
	record Run(ClaimRequest request, long start, CountDownLatch ended) {
	}

}
