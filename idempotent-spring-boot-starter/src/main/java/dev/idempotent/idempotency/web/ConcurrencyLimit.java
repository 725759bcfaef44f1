package dev.idempotent.idempotency.web;

import java.time.Duration;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

import dev.idempotent.idempotency.web.Problem.RefusedRequestException;

/**
 * Limits how many threads fingerprint large bodies at the same time, in arrival order.
 * Canonicalizing a JSON body is CPU-bound and takes up to forty times its size in memory.
 */
final class ConcurrencyLimit {

	private final Semaphore permits;

	private final Duration timeout;

	/**
	 * Creates a limit.
	 * @param threads how many threads may run at the same time
	 * @param timeout how long a thread waits for a permit
	 */
	ConcurrencyLimit(int threads, Duration timeout) {
		this.permits = new Semaphore(threads, true);
		this.timeout = timeout;
	}

	/**
	 * Runs the work with a permit.
	 * @throws RefusedRequestException if there is no permit in time
	 */
	<T> T run(Supplier<T> work) {
		acquire();
		try {
			return work.get();
		}
		finally {
			this.permits.release();
		}
	}

	private void acquire() {
		boolean acquired = false;
		try {
			acquired = this.permits.tryAcquire(this.timeout.toMillis(), TimeUnit.MILLISECONDS);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
		if (!acquired) {
			throw Problem.OVERLOADED.refusal();
		}
	}

}
