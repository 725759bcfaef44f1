package dev.idempotent.outbox.relay;

import dev.idempotent.outbox.OutboxStore.LeasedEvent;

/**
 * A leased event in the queue of its key.
 *
 * @param deadline until when its lease is certainly valid, as {@link System#nanoTime()}
 * @param committed when it was handed over at its commit, as {@link System#nanoTime()}; 0
 * before the commit, 1 if it was claimed
 */
record KeyMember(LeasedEvent event, long deadline, long committed) {

	private static final long CLAIMED = 1;

	static KeyMember claimed(LeasedEvent event, long deadline) {
		return new KeyMember(event, deadline, CLAIMED);
	}

	boolean isCommitted() {
		return this.committed != 0;
	}

	boolean wasHandedOver() {
		return isCommitted() && this.committed != CLAIMED;
	}

	boolean isLate() {
		return System.nanoTime() - this.deadline >= 0;
	}

}
