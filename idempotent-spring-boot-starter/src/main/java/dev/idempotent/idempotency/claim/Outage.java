package dev.idempotent.idempotency.claim;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Whether a server is known to be unreachable, so that each outage is logged once and
 * callers can skip the server meanwhile.
 */
final class Outage {

	private static final long PROBE_NANOS = Duration.ofSeconds(1).toNanos();

	private final AtomicBoolean open = new AtomicBoolean();

	private final AtomicLong nextProbe = new AtomicLong();

	/**
	 * Records a failure to reach the server.
	 * @return {@code true} if it is the first of an outage
	 */
	boolean begin() {
		this.nextProbe.set(System.nanoTime() + PROBE_NANOS);
		return this.open.compareAndSet(false, true);
	}

	/**
	 * Records a reply of the server.
	 * @return {@code true} if it ends an outage
	 */
	boolean end() {
		return this.open.get() && this.open.compareAndSet(true, false);
	}

	/**
	 * Returns whether to skip the server: {@code false} for one caller per second during
	 * an outage, which then probes the server.
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
