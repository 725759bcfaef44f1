package dev.idempotent.outbox.relay;

import java.time.Duration;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

/**
 * Waits that anybody can end.
 */
final class WakeUp {

	private final Semaphore calls = new Semaphore(0);

	void call() {
		// One call is as good as many.
		if (this.calls.availablePermits() == 0) {
			this.calls.release();
		}
	}

	/**
	 * Waits for a call, or for between half a time and all of it, so that instances do
	 * not move in step.
	 * @return whether there was a call
	 */
	boolean await(Duration longest) throws InterruptedException {
		long nanos = longest.toNanos();
		boolean called = this.calls.tryAcquire(nanos / 2 + ThreadLocalRandom.current().nextLong(nanos / 2 + 1),
				TimeUnit.NANOSECONDS);
		this.calls.drainPermits();
		return called;
	}

}
