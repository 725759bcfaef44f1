package dev.idempotent.outbox.relay;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

import dev.idempotent.work.OutageLog;
import org.jspecify.annotations.Nullable;
import org.springframework.util.backoff.BackOffExecution;
import org.springframework.util.backoff.ExponentialBackOff;

/**
 * When to probe a publisher or destination after consecutive failures. Guarded by its
 * owner.
 */
final class ProbeBackoff {

	private static final ExponentialBackOff BACKOFF = new ExponentialBackOff(500, 2);

	static {
		BACKOFF.setJitter(500);
		BACKOFF.setMaxInterval(15_000);
	}

	/**
	 * How long to wait for an event to probe with.
	 */
	private static final Duration IDLE_TIME = Duration.ofSeconds(15);

	private @Nullable BackOffExecution failures;

	private long firstFailure;

	private boolean idle;

	private long end;

	/**
	 * Returns whether the last attempt failed.
	 */
	boolean isOpen() {
		return this.failures != null;
	}

	/**
	 * Returns whether the next probe is due.
	 */
	boolean isDue() {
		return System.nanoTime() - this.end >= 0;
	}

	/**
	 * Returns whether there may be an event to probe with.
	 */
	boolean mayFindEvent() {
		return !this.idle || isDue();
	}

	long end() {
		return this.end;
	}

	/**
	 * Returns how long ago the first of the consecutive failures was.
	 */
	String failingFor() {
		return OutageLog.describe(openFor());
	}

	Duration openFor() {
		return Duration.ofNanos(System.nanoTime() - this.firstFailure);
	}

	/**
	 * Returns how long until the next probe.
	 */
	Duration untilDue() {
		return Duration.ofNanos(Math.max(0, this.end - System.nanoTime()));
	}

	void failed() {
		this.idle = false;
		if (this.failures == null) {
			this.failures = BACKOFF.start();
			this.firstFailure = System.nanoTime();
		}
		this.end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(this.failures.nextBackOff());
	}

	void endNow() {
		this.idle = false;
		this.end = System.nanoTime();
	}

	/**
	 * Records that there is no event to probe with. Another instance may have leased it.
	 * @return whether this is so for the first time in a row
	 */
	boolean startIdle() {
		boolean first = !this.idle;
		this.idle = true;
		this.end = System.nanoTime() + IDLE_TIME.toNanos();
		return first;
	}

	/**
	 * Records that there is an event to probe with.
	 */
	void endIdle() {
		if (this.idle) {
			endNow();
		}
	}

	void succeeded() {
		this.idle = false;
		this.failures = null;
	}

}
