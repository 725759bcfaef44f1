package dev.idempotent.idempotency.claim;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;

import dev.idempotent.work.OutageLog;

/**
 * Whether a server is known to be unreachable, so that each outage is logged once and
 * callers can skip the server meanwhile.
 */
final class Outage {

	private static final long PROBE_NANOS = Duration.ofSeconds(1).toNanos();

	private final OutageLog log;

	private final AtomicLong nextProbe = new AtomicLong();

	private volatile boolean ofWrites;

	Outage(OutageLog log) {
		this.log = log;
	}

	/**
	 * Records a failure to reach the server.
	 * @param start the time at which the call started
	 * @param write whether the call needs a server that accepts writes, and its replicas
	 * if the store waits for them
	 */
	void begin(long start, boolean write, Throwable cause) {
		this.nextProbe.set(System.nanoTime() + PROBE_NANOS);
		this.ofWrites |= write;
		this.log.failed(start, cause);
	}

	/**
	 * Records a reply of the server. Does not end an outage of writes if the call was
	 * none: each request would begin and end another one.
	 */
	void end(long start, boolean write) {
		if (this.log.isOpen() && (write || !this.ofWrites)) {
			this.log.succeeded(start);
			if (!this.log.isOpen()) {
				this.ofWrites = false;
			}
		}
	}

	/**
	 * Returns whether to skip the server: {@code false} for one caller per second during
	 * an outage, which then probes the server.
	 */
	boolean isOpen() {
		if (!this.log.isOpen()) {
			return false;
		}
		long now = System.nanoTime();
		long due = this.nextProbe.get();
		return now - due < 0 || !this.nextProbe.compareAndSet(due, now + PROBE_NANOS);
	}

}
