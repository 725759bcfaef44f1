package dev.idempotent.outbox.relay;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;

import dev.idempotent.concurrent.Backoff;

/**
 * The events that this instance leaves to others, because its version cannot read them.
 * This instance claims each of them again only after a growing pause, which is not
 * stored, so that other instances can claim them at once.
 */
final class LeftEvents {

	private static final int MOST = 10_000;

	private static final Backoff BACKOFF = new Backoff(Duration.ofSeconds(30), Duration.ofMinutes(15));

	/**
	 * By lane: only the first row of a lane is claimed.
	 */
	private final Map<Long, Left> lanes = new LinkedHashMap<>() {

		@Override
		protected boolean removeEldestEntry(Map.Entry<Long, Left> eldest) {
			return size() > MOST;
		}

	};

	private volatile boolean empty = true;

	/**
	 * Leaves a row.
	 * @return whether this instance leaves it for the first time
	 */
	synchronized boolean add(long lane, long row) {
		Left before = this.lanes.remove(lane);
		int times = (before != null && before.row() == row) ? before.times() + 1 : 1;
		this.lanes.put(lane, new Left(row, times, System.nanoTime() + BACKOFF.after(times).toNanos()));
		this.empty = false;
		return times == 1;
	}

	/**
	 * Whether the row is not to be claimed for now.
	 */
	boolean contains(long lane, long row) {
		return !this.empty && isLeft(lane, row);
	}

	private synchronized boolean isLeft(long lane, long row) {
		Left left = this.lanes.get(lane);
		return left != null && left.row() == row && System.nanoTime() - left.until() < 0;
	}

	private record Left(long row, int times, long until) {

	}

}
