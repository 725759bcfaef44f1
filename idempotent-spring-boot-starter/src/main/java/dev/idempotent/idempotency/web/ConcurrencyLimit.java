package dev.idempotent.idempotency.web;

import java.time.Duration;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * Lets a few threads at a time compare large bodies, first come, first served. While it
 * is compared by meaning, a body takes a processor and up to forty times its memory.
 */
final class ConcurrencyLimit {

	private final Semaphore free;

	private final Duration patience;

	/**
	 * Creates the turns.
	 * @param atATime how many threads have one at the same time
	 * @param patience how long a thread waits for one
	 */
	ConcurrencyLimit(int atATime, Duration patience) {
		this.free = new Semaphore(atATime, true);
		this.patience = patience;
	}

	/**
	 * Works in a turn.
	 * @throws RefusedRequestException if there is none in time
	 */
	<T> T take(Supplier<T> work) {
		await();
		try {
			return work.get();
		}
		finally {
			this.free.release();
		}
	}

	private void await() {
		boolean granted = false;
		try {
			granted = this.free.tryAcquire(this.patience.toMillis(), TimeUnit.MILLISECONDS);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
		if (!granted) {
			throw new RefusedRequestException(Problem.OVERLOADED,
					"Too many large requests came at once, and nothing was done. Send the request again in a moment.");
		}
	}

}
