package dev.idempotent.outbox.relay;

import java.time.Duration;

/**
 * When to search all pending events again. Where the rows that a long transaction keeps
 * cannot be left out, searches take at most 1 % of the time, but are never further apart
 * than five minutes.
 */
final class FullScanSchedule {

	private static final int PAUSE = 100;

	private static final long MAX_PAUSE = Duration.ofMinutes(5).toNanos();

	private final long interval;

	private boolean searched;

	private long last;

	private long previousTime;

	private long pause;

	FullScanSchedule(Duration interval) {
		this.interval = interval.toNanos();
	}

	boolean isDue(long nanoTime) {
		return !this.searched || nanoTime - this.last >= this.interval + this.pause;
	}

	/**
	 * Records a search. A single one that had to wait does not count.
	 * @param costly whether it may have read all rows that a long transaction keeps
	 */
	void searched(long begin, long end, boolean costly) {
		long time = end - begin;
		this.pause = costly ? Math.min(MAX_PAUSE, PAUSE * Math.min(time, this.previousTime)) : 0;
		this.previousTime = time;
		this.last = begin;
		this.searched = true;
	}

}
