package dev.idempotent.idempotency.jdbc;

import java.time.Duration;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.IdempotencyStoreUnavailableException;

/**
 * Limits how many claims hold a connection while they wait for another transaction, so
 * that the pool is not exhausted. Further claims wait without a connection.
 */
final class ClaimQueue {

	/**
	 * Covers several consecutive lock timeouts.
	 */
	private static final Duration MAX_WAIT = Duration.ofSeconds(5);

	private final Semaphore places;

	private final Duration lockTimeout;

	/**
	 * Creates a queue.
	 * @param places how many claims may wait concurrently
	 * @param lockTimeout how long each may wait
	 */
	ClaimQueue(int places, Duration lockTimeout) {
		this.places = new Semaphore(places, true);
		this.lockTimeout = lockTimeout;
	}

	Duration lockTimeout() {
		return this.lockTimeout;
	}

	/**
	 * Waits for a permit.
	 * @throws IdempotencyStoreUnavailableException if there is no permit in time
	 */
	void enter(IdempotencyKey key) {
		try {
			if (!this.places.tryAcquire(MAX_WAIT.toMillis(), TimeUnit.MILLISECONDS)) {
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
		return new IdempotencyStoreUnavailableException("Too many claims are waiting before the claim of key " + key,
				null);
	}

}
