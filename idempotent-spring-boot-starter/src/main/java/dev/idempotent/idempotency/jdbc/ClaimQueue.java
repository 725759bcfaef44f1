package dev.idempotent.idempotency.jdbc;

import java.time.Duration;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.IdempotencyStoreUnavailableException;

/**
 * Lets few claims at a time hold a connection that may have to wait for another
 * transaction, so that the pool stays free for work. The others wait without one.
 */
final class ClaimQueue {

	/**
	 * Room for a row of claims that each wait in vain.
	 */
	private static final Duration PATIENCE = Duration.ofSeconds(5);

	private final Semaphore places;

	private final Duration lockTimeout;

	/**
	 * Creates a queue.
	 * @param places how many claims may wait at a time
	 * @param lockTimeout how long each waits at most
	 */
	ClaimQueue(int places, Duration lockTimeout) {
		this.places = new Semaphore(places, true);
		this.lockTimeout = lockTimeout;
	}

	Duration lockTimeout() {
		return this.lockTimeout;
	}

	/**
	 * Waits for a place.
	 * @throws IdempotencyStoreUnavailableException if there is none in time
	 */
	void enter(IdempotencyKey key) {
		try {
			if (!this.places.tryAcquire(PATIENCE.toMillis(), TimeUnit.MILLISECONDS)) {
				throw busy(key);
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw busy(key);
		}
	}

	void leave() {
		this.places.release();
	}

	private static IdempotencyStoreUnavailableException busy(IdempotencyKey key) {
		return new IdempotencyStoreUnavailableException("Too many claims wait before that of key " + key, null);
	}

}
