package dev.idempotent.outbox.engine;

import java.time.Duration;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;

/**
 * The lanes to look at, each with the lowest row that somebody knows to be there. Losing
 * a lane loses nothing: the scan finds its rows.
 */
final class WakeSet {

	private final Map<Long, Long> lanes = new LinkedHashMap<>();

	private final int capacity;

	WakeSet(int capacity) {
		this.capacity = capacity;
	}

	/**
	 * Adds a lane, unless the set is full.
	 * @param row the lowest new row, or 0 if any row can be the first
	 */
	synchronized void add(long lane, long row) {
		if (this.lanes.containsKey(lane) || this.lanes.size() < this.capacity) {
			this.lanes.merge(lane, row, Math::min);
			notify();
		}
	}

	/**
	 * Takes the lanes that have waited longest.
	 * @return in the order of lanes, so that all transactions lock rows in one order
	 */
	@SuppressWarnings("WaitNotInLoop") // It may return none.
	synchronized NavigableMap<Long, Long> take(int limit, Duration patience) throws InterruptedException {
		if (this.lanes.isEmpty()) {
			wait(patience.toMillis());
		}
		NavigableMap<Long, Long> taken = new TreeMap<>();
		Iterator<Map.Entry<Long, Long>> oldest = this.lanes.entrySet().iterator();
		while (taken.size() < limit && oldest.hasNext()) {
			Map.Entry<Long, Long> lane = oldest.next();
			taken.put(lane.getKey(), lane.getValue());
			oldest.remove();
		}
		notifyAll();
		return taken;
	}

	/**
	 * Waits until at least half of the set is free.
	 */
	@SuppressWarnings("WaitNotInLoop") // It may return early.
	synchronized void awaitRoom(Duration patience) throws InterruptedException {
		if (this.lanes.size() > this.capacity / 2) {
			wait(patience.toMillis());
		}
	}

}
