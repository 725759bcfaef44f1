package dev.idempotent.outbox.relay;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;

import dev.idempotent.outbox.jdbc.QueuedEvent;
import dev.idempotent.outbox.jdbc.EventTable.Row;
import org.jspecify.annotations.Nullable;

/**
 * The lanes that a publisher's workers have to look at. Losing one loses nothing: the
 * scan finds its rows.
 */
final class LaneQueue {

	private final Map<Long, LaneSignal> lanes = new LinkedHashMap<>();

	private final int capacity;

	private final Lock lock = new ReentrantLock();

	private final Condition filled = this.lock.newCondition();

	private final Condition emptied = this.lock.newCondition();

	private boolean stopped;

	LaneQueue(int capacity) {
		this.capacity = capacity;
	}

	/**
	 * Adds a lane, unless the queue is full.
	 * @return whether the queue has it
	 */
	boolean add(LaneSignal signal) {
		this.lock.lock();
		try {
			LaneSignal present = this.lanes.get(signal.lane());
			if (present == null && this.lanes.size() >= this.capacity) {
				return false;
			}
			this.lanes.put(signal.lane(), (present != null) ? present.and(signal) : signal);
			this.filled.signal();
			return true;
		}
		finally {
			this.lock.unlock();
		}
	}

	/**
	 * Takes the lanes that have waited longest.
	 * @return in the order of lanes, so that all transactions lock rows in one order
	 */
	List<LaneSignal> take(int limit) {
		List<LaneSignal> oldest = new ArrayList<>();
		this.lock.lock();
		try {
			Iterator<LaneSignal> waiting = this.lanes.values().iterator();
			while (oldest.size() < limit && waiting.hasNext()) {
				oldest.add(waiting.next());
				waiting.remove();
			}
			this.emptied.signalAll();
		}
		finally {
			this.lock.unlock();
		}
		oldest.sort(Comparator.comparingLong(LaneSignal::lane));
		return oldest;
	}

	/**
	 * Waits for a lane, which another thread may take.
	 * @param patience how long to wait
	 */
	@SuppressWarnings("WaitNotInLoop") // There may be none.
	void await(Duration patience) throws InterruptedException {
		this.lock.lock();
		try {
			if (this.lanes.isEmpty() && !this.stopped) {
				boolean unused = this.filled.await(patience.toMillis(), TimeUnit.MILLISECONDS);
			}
		}
		finally {
			this.lock.unlock();
		}
	}

	boolean isEmpty() {
		this.lock.lock();
		try {
			return this.lanes.isEmpty();
		}
		finally {
			this.lock.unlock();
		}
	}

	/**
	 * Waits until at least half of the queue is free, while lanes are taken.
	 * @param patience how long to wait; a tenth of it if nothing is taken
	 * @return whether half of it is free
	 */
	boolean awaitRoom(Duration patience) throws InterruptedException {
		long end = System.nanoTime() + patience.toNanos();
		this.lock.lock();
		try {
			boolean taking = true;
			while (this.lanes.size() > this.capacity / 2 && taking) {
				taking = this.emptied.await(patience.toMillis() / 10, TimeUnit.MILLISECONDS)
						&& System.nanoTime() - end < 0;
			}
			return this.lanes.size() <= this.capacity / 2;
		}
		finally {
			this.lock.unlock();
		}
	}

	/**
	 * Ends all waiting.
	 */
	void stop() {
		this.lock.lock();
		try {
			this.stopped = true;
			this.filled.signalAll();
			this.emptied.signalAll();
		}
		finally {
			this.lock.unlock();
		}
	}

	/**
	 * A lane to look at.
	 *
	 * @param row the lowest new row, or 0 if any can be the first
	 * @param topic of that row
	 * @param committed the {@link System#nanoTime()} of its commit, or 0 if it is not
	 * known
	 * @param alone that row, if no other one is in the lane, so that it need not be read
	 */
	record LaneSignal(long lane, long row, String topic, long committed, @Nullable QueuedEvent alone) {

		LaneSignal(long lane, long row, String topic, long committed) {
			this(lane, row, topic, committed, null);
		}

		static LaneSignal of(Row row, long committed) {
			return new LaneSignal(row.lane(), row.id(), row.topic(), committed, row.alone());
		}

		/**
		 * The same lane from the lower of two rows on.
		 */
		LaneSignal and(LaneSignal other) {
			LaneSignal lower = (this.row <= other.row) ? this : other;
			return new LaneSignal(lower.lane, lower.row, lower.topic, lower.committed);
		}

		/**
		 * The same lane from its first row on.
		 */
		LaneSignal fromStart() {
			return new LaneSignal(this.lane, 0, this.topic, 0);
		}

	}

}
