package dev.idempotent.outbox.relay;

import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;

import dev.idempotent.outbox.OutboxStore.ClaimScope;
import dev.idempotent.outbox.OutboxStore.EventLease;
import dev.idempotent.outbox.OutboxStore.LeasedEvent;
import dev.idempotent.outbox.OutboxStore;
import dev.idempotent.outbox.relay.PublisherCircuit.Probe;
import org.jspecify.annotations.Nullable;

/**
 * The events of one publisher that nobody was handed: left over by a full queue, an
 * unavailable publisher or a dead instance, inserted by other programs, or waiting for
 * another attempt. Looks for them behind the last row that it has looked at, since what
 * is before it are mostly rows that are gone and that a long transaction keeps the
 * database from clearing away, or rows of publishers that are away; and now and then, or
 * when it is told, from the beginning.
 */
final class Backlog {

	/**
	 * To find out whether a publisher is available again.
	 */
	private static final int PROBE = 10;

	/**
	 * An event that has outlived this many attempts without an end, and its company, are
	 * tried in ever smaller groups: one of them may be what kills the process.
	 */
	private static final int TRUSTED_ATTEMPTS = 2;

	private final String publisher;

	private final OutboxStore store;

	private final Deliveries deliveries;

	private final PublisherCircuit circuit;

	private final RelaySettings settings;

	private final DelayedEvents delayed;

	/**
	 * What is to be looked for below the watermark.
	 */
	private final AtomicLong wanted = new AtomicLong();

	/**
	 * A row that is known to be there, or to have been there.
	 */
	private final AtomicLong known = new AtomicLong();

	private long watermark;

	private long scanned;

	private boolean begun;

	Backlog(String publisher, OutboxStore store, Deliveries deliveries, PublisherCircuit circuit,
			RelaySettings settings, DelayedEvents delayed) {
		this.publisher = publisher;
		this.store = store;
		this.deliveries = deliveries;
		this.circuit = circuit;
		this.settings = settings;
		this.delayed = delayed;
	}

	/**
	 * Sees to it that a row is found.
	 */
	void lookFrom(long row) {
		this.wanted.accumulateAndGet(row - 1, Math::min);
	}

	/**
	 * Learns of a row that nobody has to look for.
	 */
	void passed(long row) {
		this.known.accumulateAndGet(row, Math::max);
	}

	/**
	 * Delivers one batch of each kind, unless the publisher is unavailable.
	 * @return whether there may be more
	 */
	boolean deliver() {
		if (!this.circuit.isClosed()) {
			return false;
		}
		Set<String> except = this.circuit.unavailable();
		List<LeasedEvent> fresh = claimFresh(except, this.settings.batchSize());
		deliver(fresh);
		List<LeasedEvent> parked = claim(true, 0, except, null, this.settings.batchSize());
		deliver(parked);
		return isFull(fresh) || isFull(parked);
	}

	/**
	 * Claims a few events to try a topic with.
	 */
	List<LeasedEvent> claimOf(Probe probe) {
		List<LeasedEvent> found = claim(false, probe.row() - 1, Set.of(), probe.topic(), PROBE);
		if (found.isEmpty()) {
			found = claim(false, 0, Set.of(), probe.topic(), PROBE);
		}
		return found.isEmpty() ? claim(true, 0, Set.of(), probe.topic(), PROBE) : found;
	}

	/**
	 * Claims a few events whose topic is not known to be unavailable.
	 */
	List<LeasedEvent> claimOfOthers() {
		Set<String> except = this.circuit.unavailable();
		List<LeasedEvent> found = claimFresh(except, PROBE);
		return found.isEmpty() ? claim(true, 0, except, null, PROBE) : found;
	}

	/**
	 * By the worker and the one that probes, in turn.
	 */
	private synchronized List<LeasedEvent> claimFresh(Set<String> except, int limit) {
		rewindNowAndThen();
		// What is wanted from now on is for the next claim, which this one may not see.
		this.watermark = Math.min(this.watermark, this.wanted.getAndSet(Long.MAX_VALUE));
		long passed = this.known.get();
		List<LeasedEvent> fresh = claim(false, this.watermark, except, null, limit);
		long last = fresh.isEmpty() ? this.watermark : fresh.get(fresh.size() - 1).event().sequence();
		boolean full = fresh.size() == limit || isFull(fresh);
		this.watermark = full ? last : Math.max(last, passed);
		if (fresh.isEmpty()) {
			// There may be rows of others in the way: not to be read again.
			passed(this.store.lastRow(this.watermark));
		}
		return fresh;
	}

	private List<LeasedEvent> claim(boolean parked, long above, Set<String> except, @Nullable String topic, int limit) {
		EventLease lease = EventLease.by(this.settings.owner(), this.settings.lease());
		return this.store.claim(lease, new ClaimScope(parked, above, Set.of(this.publisher), except, topic, limit,
				this.settings.batchMemory(), this.settings.attempts()));
	}

	private boolean isFull(List<LeasedEvent> claimed) {
		return claimed.size() == this.settings.batchSize()
				|| claimed.stream().mapToLong((held) -> held.event().payload().length).sum() >= this.settings
					.batchMemory();
	}

	private void rewindNowAndThen() {
		long now = System.nanoTime();
		if (!this.begun || now - this.scanned >= this.settings.fullScan().toNanos()) {
			this.begun = true;
			this.scanned = now;
			this.delayed.park();
			this.watermark = 0;
		}
	}

	private void deliver(List<LeasedEvent> claimed) {
		if (claimed.isEmpty()) {
			return;
		}
		int group = groupOf(claimed);
		List<LeasedEvent> tried = claimed.subList(0, Math.min(group, claimed.size()));
		List<LeasedEvent> left = claimed.subList(tried.size(), claimed.size());
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
	private int groupOf(List<LeasedEvent> claimed) {
		int worst = claimed.stream()
			.filter((event) -> !event.waiting())
			.mapToInt((event) -> event.event().attempts())
			.filter((attempts) -> attempts <= this.settings.attempts())
			.max()
			.orElse(0);
		return Math.max(1, this.settings.batchSize() >> (2 * Math.max(0, worst - TRUSTED_ATTEMPTS)));
	}

}
