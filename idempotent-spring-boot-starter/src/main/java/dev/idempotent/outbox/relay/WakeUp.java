package dev.idempotent.outbox.relay;

import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

/**
 * A wait that any thread can cut short. Only one thread may wait.
 */
final class WakeUp {

	private final Semaphore calls = new Semaphore(0);

	void call() {
		// One pending call is enough.
		if (this.calls.availablePermits() == 0) {
			this.calls.release();
		}
	}

	/**
	 * Waits for a call, or for a random time between half the given one and all of it, so
	 * that instances do not query at the same moment.
	 * @return whether there was a call
	 */
	boolean await(long maxMillis) throws InterruptedException {
		long nanos = TimeUnit.MILLISECONDS.toNanos(maxMillis);
		boolean called = this.calls.tryAcquire(nanos / 2 + ThreadLocalRandom.current().nextLong(nanos / 2 + 1),
				TimeUnit.NANOSECONDS);
		this.calls.drainPermits();
		return called;
	}

}
