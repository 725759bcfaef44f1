package dev.idempotent.outbox.courier;

import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;

import dev.idempotent.outbox.ClaimScope;
import dev.idempotent.outbox.EventLease;
import dev.idempotent.outbox.HeldEvent;
import dev.idempotent.outbox.OutboxStore;

/**
 * The events that nobody was handed: left over by a full queue, an unavailable publisher
 * or a dead instance, inserted by other programs, or waiting for another attempt. Looks
 * for them behind the last one that it has seen, since what is before it are mostly rows
 * that are gone and that a long transaction keeps the database from clearing away; and
 * now and then, or when it is told, from the beginning.
 */
final class Backlog {

	/**
	 * To find out whether a publisher is available again.
	 */
	private static final int PROBE = 10;

	private static final int PARK = 1000;

	/**
	 * An event that has outlived this many attempts without an end, and its company, are
	 * tried in ever smaller groups: one of them may be what kills the process.
	 */
	private static final int TRUSTED_ATTEMPTS = 2;

	private final OutboxStore store;

	private final Deliveries deliveries;

	private final PublisherCircuits circuits;

	private final CourierSettings settings;

	private final AtomicLong watermark = new AtomicLong();

	private long scanned;

	private boolean begun;

	Backlog(OutboxStore store, Deliveries deliveries, PublisherCircuits circuits, CourierSettings settings) {
		this.store = store;
		this.deliveries = deliveries;
		this.circuits = circuits;
		this.settings = settings;
	}

	/**
	 * Sees to it that a row is found.
	 */
	void lookFrom(long row) {
		this.watermark.getAndUpdate((seen) -> Math.min(seen, row - 1));
	}

	/**
	 * Delivers one batch of each kind.
	 * @return whether there may be more
	 */
	boolean deliver() {
		Set<String> permitted = this.circuits.permitted();
		if (permitted.isEmpty()) {
			return false;
		}
		boolean probing = !Collections.disjoint(permitted, this.circuits.unavailable());
		int limit = probing ? PROBE : this.settings.batchSize();
		rewindNowAndThen();
		if (probing) {
			// What was given back meanwhile can be anywhere.
			this.watermark.set(0);
		}
		long above = this.watermark.get();
		List<HeldEvent> fresh = this.store.claim(lease(), new ClaimScope(false, above, permitted, limit));
		if (!fresh.isEmpty()) {
			long last = fresh.get(fresh.size() - 1).event().sequence();
			this.watermark.compareAndSet(above, last);
			deliver(fresh);
		}
		List<HeldEvent> parked = this.store.claim(lease(), new ClaimScope(true, 0, permitted, limit));
		deliver(parked);
		return fresh.size() == limit || parked.size() == limit;
	}

	private EventLease lease() {
		return EventLease.by(this.settings.owner(), this.settings.lease());
	}

	private void rewindNowAndThen() {
		long now = System.nanoTime();
		if (!this.begun || now - this.scanned >= this.settings.fullScan().toNanos()) {
			this.begun = true;
			this.scanned = now;
			this.store.parkDelayed(PARK);
			this.watermark.set(0);
		}
	}

	private void deliver(List<HeldEvent> claimed) {
		if (claimed.isEmpty()) {
			return;
		}
		int group = groupOf(claimed);
		List<HeldEvent> tried = claimed.subList(0, Math.min(group, claimed.size()));
		List<HeldEvent> left = claimed.subList(tried.size(), claimed.size());
		if (!left.isEmpty()) {
			this.deliveries.release(left);
			lookFrom(left.get(0).event().sequence());
		}
		this.deliveries.deliver(tried);
	}

	/**
	 * How many of some claimed events to try at once. Each that was never tried, or
	 * failed in the ordinary way, counts as trusted.
	 */
	private int groupOf(List<HeldEvent> claimed) {
		int worst = claimed.stream()
			.filter((event) -> !event.parked())
			.mapToInt((event) -> event.event().attempts())
			.filter((attempts) -> attempts <= this.settings.attempts())
			.max()
			.orElse(0);
		return Math.max(1, this.settings.batchSize() >> (2 * Math.max(0, worst - TRUSTED_ATTEMPTS)));
	}

}
