package dev.idempotent.idempotency.claim;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Whether a server is known to be unreachable, so that each outage is logged once and
 * callers can do without the server while it lasts.
 */
final class Outage {

	private static final long PROBE_NANOS = Duration.ofSeconds(1).toNanos();

	private final AtomicBoolean open = new AtomicBoolean();

	private final AtomicLong nextProbe = new AtomicLong();

	/**
	 * Records that the server did not answer.
	 * @return whether the outage begins with this
	 */
	boolean begin() {
		this.nextProbe.set(System.nanoTime() + PROBE_NANOS);
		return this.open.compareAndSet(false, true);
	}

	/**
	 * Records that the server answered.
	 * @return whether an outage ends with this
	 */
	boolean end() {
		return this.open.get() && this.open.compareAndSet(true, false);
	}

	/**
	 * Tells whether to save the time-out of another attempt. Once a second one caller is
	 * told to make it.
	 */
	boolean isOpen() {
		if (!this.open.get()) {
			return false;
		}
		long now = System.nanoTime();
		long due = this.nextProbe.get();
		return now - due < 0 || !this.nextProbe.compareAndSet(due, now + PROBE_NANOS);
	}

}
