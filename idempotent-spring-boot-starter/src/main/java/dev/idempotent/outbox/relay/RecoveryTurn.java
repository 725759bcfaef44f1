package dev.idempotent.outbox.relay;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import org.jspecify.annotations.Nullable;

/**
 * Lets the handlers of a process begin one event at a time whose last attempt did not
 * end. If that event ends the process, none of the others has used up another attempt. An
 * event that takes longer than its lease no longer keeps the others waiting.
 */
final class RecoveryTurn {

	private static final int MAX_WAITING = 100;

	private final Map<Long, Runnable> waiting = new LinkedHashMap<>();

	private @Nullable Object current;

	private long end;

	/**
	 * Runs an attempt, unless another one has the turn.
	 * @param lane the lane of the event
	 * @param lease how long other attempts wait for this one
	 * @param later called when it may have the turn, if another one has it now
	 */
	void run(long lane, Duration lease, Runnable attempt, Runnable later) {
		Object turn = take(lane, lease, later);
		if (turn == null) {
			return;
		}
		try {
			attempt.run();
		}
		finally {
			end(turn).forEach(Runnable::run);
		}
	}

	private synchronized @Nullable Object take(long lane, Duration lease, Runnable later) {
		if (this.current != null && System.nanoTime() - this.end < 0) {
			if (this.waiting.size() < MAX_WAITING) {
				this.waiting.put(lane, later);
			}
			return null;
		}
		this.current = new Object();
		this.end = System.nanoTime() + lease.toNanos();
		return this.current;
	}

	private synchronized List<Runnable> end(Object turn) {
		if (this.current == turn) {
			this.current = null;
		}
		List<Runnable> next = List.copyOf(this.waiting.values());
		this.waiting.clear();
		return next;
	}

}
