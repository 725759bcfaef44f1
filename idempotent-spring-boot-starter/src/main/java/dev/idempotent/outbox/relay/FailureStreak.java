package dev.idempotent.outbox.relay;

import java.util.HashSet;
import java.util.Set;

/**
 * The failures of a handler in a row. If events of several keys fail, the reason is what
 * the handler depends on, not the events.
 */
final class FailureStreak {

	/**
	 * How many failures in a row count as an outage.
	 */
	static final int FAILURES = 10;

	/**
	 * Over how many lanes at least.
	 */
	static final int LANES = 3;

	private final Set<Long> lanes = new HashSet<>();

	private volatile int failures;

	/**
	 * Adds a failure.
	 * @return whether the handler counts as unavailable
	 */
	synchronized boolean add(long lane) {
		this.failures = Math.min(this.failures + 1, FAILURES);
		if (this.lanes.size() < LANES) {
			this.lanes.add(lane);
		}
		return isOutage();
	}

	/**
	 * Whether the handler counts as unavailable.
	 */
	synchronized boolean isOutage() {
		return this.failures == FAILURES && this.lanes.size() == LANES;
	}

	/**
	 * Ends the row with an event that was handled.
	 */
	void end() {
		if (this.failures > 0) {
			clear();
		}
	}

	private synchronized void clear() {
		this.failures = 0;
		this.lanes.clear();
	}

}
