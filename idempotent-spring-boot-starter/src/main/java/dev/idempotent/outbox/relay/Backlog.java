package dev.idempotent.outbox.relay;

import java.util.List;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;

import dev.idempotent.outbox.OutboxStore.ClaimScope;
import dev.idempotent.outbox.OutboxStore.EventLease;
import dev.idempotent.outbox.OutboxStore.LeasedEvent;
import dev.idempotent.outbox.OutboxStore;
import dev.idempotent.outbox.relay.PublisherCircuit.Probe;
import org.jspecify.annotations.Nullable;

/**
 * Claims the events of one publisher that were not handed over: those left by a full
 * queue, an outage or a dead instance, inserted by other programs, or waiting for another
 * attempt. Searches behind a watermark, because the rows below it are mostly deleted ones
 * that a long transaction keeps from being vacuumed, or rows of unavailable destinations;
 * periodically, and on request, it starts from the first row.
 */
final class Backlog {

	/**
	 * How many events to probe with.
	 */
	private static final int PROBE_SIZE = 10;

	private final String publisher;

	private final OutboxStore store;

	private final PublisherCircuit circuit;

	private final String owner;

	private final RelaySettings settings;

	private final DelayedEvents delayed;

	/**
	 * The lowest row to search behind, if it is below the watermark.
	 */
	private final AtomicLong requested = new AtomicLong();

	/**
	 * The highest row known to exist or to have existed.
	 */
	private final AtomicLong known = new AtomicLong();

	private final FullScanSchedule fullScans;

	private long watermark;

	Backlog(String publisher, OutboxStore store, PublisherCircuit circuit, String owner, RelaySettings settings,
			DelayedEvents delayed) {
		this.publisher = publisher;
		this.store = store;
		this.circuit = circuit;
		this.owner = owner;
		this.settings = settings;
		this.delayed = delayed;
		this.fullScans = new FullScanSchedule(settings.fullScanInterval());
	}

	/**
	 * Makes the next claim include a row.
	 */
	void lookFrom(long row) {
		this.requested.accumulateAndGet(row - 1, Math::min);
	}

	/**
	 * Records a row that need not be claimed.
	 */
	void skip(long row) {
		this.known.accumulateAndGet(row, Math::max);
	}

	/**
	 * Claims a batch of pending events to destinations that are available.
	 */
	List<LeasedEvent> claimPending() {
		return claimPending(this.settings.batchSize());
	}

	/**
	 * Claims a batch of waiting events to destinations that are available.
	 */
	List<LeasedEvent> claimWaiting() {
		return claim(true, 0, this.circuit.unavailable(), null, this.settings.batchSize());
	}

	/**
	 * Claims a few events to probe a topic with.
	 */
	List<LeasedEvent> claimOf(Probe probe) {
		List<LeasedEvent> found = claim(false, probe.row() - 1, Set.of(), probe.topic(), PROBE_SIZE);
		if (found.isEmpty()) {
			found = claim(false, this.store.lowWaterMark().orElse(0), Set.of(), probe.topic(), PROBE_SIZE);
		}
		return found.isEmpty() ? claim(true, 0, Set.of(), probe.topic(), PROBE_SIZE) : found;
	}

	/**
	 * Claims a few events whose topic is not known to be unavailable.
	 */
	List<LeasedEvent> claimOfOthers() {
		List<LeasedEvent> found = claimPending(PROBE_SIZE);
		return found.isEmpty() ? claim(true, 0, this.circuit.unavailable(), null, PROBE_SIZE) : found;
	}

	boolean isFull(List<LeasedEvent> claimed) {
		return claimed.size() == this.settings.batchSize()
				|| claimed.stream().mapToLong(LeasedEvent::storedBytes).sum() >= this.settings.batchMemory().toBytes();
	}

	/**
	 * Called by the backlog worker and the probe worker.
	 */
	private synchronized List<LeasedEvent> claimPending(int limit) {
		long begin = System.nanoTime();
		OptionalLong lowest = this.store.lowWaterMark();
		if (!this.fullScans.isDue(begin)) {
			return claimPending(limit, lowest.orElse(0));
		}
		this.delayed.moveToWaiting();
		this.watermark = 0;
		List<LeasedEvent> pending = claimPending(limit, lowest.orElse(0));
		this.fullScans.searched(begin, System.nanoTime(), lowest.isEmpty());
		return pending;
	}

	private List<LeasedEvent> claimPending(int limit, long lowest) {
		// A request that arrives from now on is for the next claim: this one may not see
		// its row.
		long from = Math.min(this.watermark, this.requested.getAndSet(Long.MAX_VALUE));
		this.watermark = (from == 0) ? lowest : from;
		long skipped = this.known.get();
		List<LeasedEvent> pending = claim(false, this.watermark, this.circuit.unavailable(), null, limit);
		long last = pending.isEmpty() ? this.watermark : pending.get(pending.size() - 1).event().sequence();
		boolean full = pending.size() == limit || isFull(pending);
		this.watermark = full ? last : Math.max(last, skipped);
		if (pending.isEmpty()) {
			// Rows of other publishers need not be read again.
			skip(this.store.lastRow(this.watermark));
		}
		return pending;
	}

	private List<LeasedEvent> claim(boolean waiting, long above, Set<String> except, @Nullable String topic,
			int limit) {
		EventLease lease = EventLease.by(this.owner, this.settings.lease());
		return this.store.claim(lease, new ClaimScope(waiting, above, Set.of(this.publisher), except, topic, limit,
				this.settings.batchMemory().toBytes(), this.settings.attempts()));
	}

}
