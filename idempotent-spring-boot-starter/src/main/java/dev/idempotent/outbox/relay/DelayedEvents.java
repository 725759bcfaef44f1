package dev.idempotent.outbox.relay;

import java.time.Duration;

import dev.idempotent.outbox.OutboxStore;

/**
 * Puts events aside now and then that other programs have inserted for later.
 */
final class DelayedEvents {

	private static final int LIMIT = 1000;

	private final OutboxStore store;

	private final Duration interval;

	private long last;

	private boolean begun;

	DelayedEvents(OutboxStore store, Duration interval) {
		this.store = store;
		this.interval = interval;
	}

	/**
	 * Does so unless another publisher's worker has just done it.
	 */
	synchronized void park() {
		long now = System.nanoTime();
		if (!this.begun || now - this.last >= this.interval.toNanos()) {
			this.begun = true;
			this.last = now;
			this.store.moveDelayedToWaiting(LIMIT);
		}
	}

}
