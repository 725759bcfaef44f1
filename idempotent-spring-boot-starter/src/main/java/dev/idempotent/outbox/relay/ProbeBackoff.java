package dev.idempotent.outbox.relay;

import java.time.Duration;

/**
 * How long nothing is sent after failures in a row. Guarded by its owner.
 */
final class ProbeBackoff {

	private static final BackOff PAUSES = new BackOff(Duration.ofSeconds(1), Duration.ofSeconds(15));

	private static final Duration SHORTEST = Duration.ofMillis(200);

	/**
	 * How long to wait for an event to try with.
	 */
	private static final Duration REST = Duration.ofSeconds(15);

	private int failures;

	private boolean resting;

	private long end;

	/**
	 * Whether the last attempt failed.
	 */
	boolean isOpen() {
		return this.failures > 0;
	}

	/**
	 * Whether it is time to find out.
	 */
	boolean isOver() {
		return System.nanoTime() - this.end >= 0;
	}

	/**
	 * Whether there may be something to try with.
	 */
	boolean isPromising() {
		return !this.resting || isOver();
	}

	long end() {
		return this.end;
	}

	void failed() {
		this.resting = false;
		this.failures++;
		this.end = System.nanoTime() + SHORTEST.plus(PAUSES.after(this.failures)).toNanos();
	}

	void endNow() {
		this.resting = false;
		this.end = System.nanoTime();
	}

	/**
	 * There is nothing to try with. Another instance may hold it.
	 * @return whether this is so for the first time in a row
	 */
	boolean rest() {
		boolean first = !this.resting;
		this.resting = true;
		this.end = System.nanoTime() + REST.toNanos();
		return first;
	}

	/**
	 * There is something to try with.
	 */
	void endRest() {
		if (this.resting) {
			endNow();
		}
	}

	void succeeded() {
		this.resting = false;
		this.failures = 0;
	}

}
