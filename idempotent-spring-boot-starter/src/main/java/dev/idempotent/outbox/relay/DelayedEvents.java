package dev.idempotent.outbox.relay;

import java.time.Duration;

import dev.idempotent.outbox.OutboxStore;

/**
 * Periodically moves events that other programs inserted for later to the waiting ones.
 * Shared by the workers of all publishers.
 */
final class DelayedEvents {

	private static final int LIMIT = 1000;

	private final OutboxStore store;

	private final Duration interval;

	private long last;

	private boolean started;

	DelayedEvents(OutboxStore store, Duration interval) {
		this.store = store;
		this.interval = interval;
	}

	/**
	 * Moves the events unless the worker of another publisher has just done so.
	 */
	synchronized void moveToWaiting() {
		long now = System.nanoTime();
		if (!this.started || now - this.last >= this.interval.toNanos()) {
			this.started = true;
			this.last = now;
			this.store.moveDelayedToWaiting(LIMIT);
		}
	}

}
