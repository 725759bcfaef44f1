package dev.idempotent.outbox.relay;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

import dev.idempotent.outbox.OrderedEvent;
import dev.idempotent.outbox.OutboxStore.EventLease;
import dev.idempotent.outbox.HandOffs;
import dev.idempotent.outbox.OutboxStore.LeasedEvent;
import dev.idempotent.outbox.SerializedEvent;
import dev.idempotent.outbox.relay.HandOffQueue.QueuedEvent;
import dev.idempotent.outbox.relay.OrderedReservation.Place;
import org.jspecify.annotations.Nullable;

/**
 * Queues events at commit, each for its publisher.
 */
final class HandOffRegistry implements HandOffs {

	private final String owner;

	private final Duration leaseTime;

	private final Map<String, PublisherRelay> relays;

	private final Runnable onUse;

	private volatile boolean open;

	/**
	 * Creates a closed registry.
	 * @param relays the relays by publisher
	 * @param onUse called when there are events that were not handed over
	 */
	HandOffRegistry(String owner, Duration leaseTime, Map<String, PublisherRelay> relays, Runnable onUse) {
		this.owner = owner;
		this.leaseTime = leaseTime;
		this.relays = relays;
		this.onUse = onUse;
	}

	void open() {
		this.open = true;
	}

	void close() {
		this.open = false;
	}

	boolean isOpen() {
		return this.open;
	}

	@Override
	public @Nullable HandOff reserve(List<SerializedEvent> events) {
		if (!this.open || !events.stream().allMatch((event) -> of(event).circuit().isClosed(event.topic()))) {
			return null;
		}
		Map<PublisherRelay, List<SerializedEvent>> parts = events.stream().collect(Collectors.groupingBy(this::of));
		List<PublisherRelay> reserved = new ArrayList<>();
		for (Map.Entry<PublisherRelay, List<SerializedEvent>> part : parts.entrySet()) {
			if (!part.getKey().queue().reserve(part.getValue())) {
				reserved.forEach((relay) -> relay.queue().cancel(parts.getOrDefault(relay, List.of())));
				return null;
			}
			reserved.add(part.getKey());
		}
		return new Reservation(parts);
	}

	@Override
	public OrderedHandOff reserveOrdered(List<OrderedEvent> events, boolean leasable) {
		long deadline = System.nanoTime() + this.leaseTime.toNanos() / 2;
		boolean reserves = leasable && this.open;
		return new OrderedReservation(events.stream().map((event) -> place(event, reserves)).toList(), deadline,
				this.onUse);
	}

	private Place place(OrderedEvent event, boolean reserves) {
		PublisherRelay relay = of(event.event());
		boolean available = reserves && relay.circuit().isClosed(event.event().topic());
		return new Place(relay, event, available ? relay.keys().reserve(event.keyHash(), event.event()) : null, null);
	}

	@Override
	public void wake(List<SerializedEvent> events) {
		this.onUse.run();
		events.forEach((event) -> of(event).lookFor(event));
	}

	private PublisherRelay of(SerializedEvent event) {
		PublisherRelay relay = this.relays.get(event.publisher());
		if (relay == null) {
			throw new IllegalStateException("No publisher for " + event.publisher());
		}
		return relay;
	}

	private final class Reservation implements HandOff {

		private final Map<PublisherRelay, List<SerializedEvent>> parts;

		private final EventLease lease;

		/**
		 * Read before the database's clock, so that the lease does not end earlier.
		 */
		private final long deadline;

		Reservation(Map<PublisherRelay, List<SerializedEvent>> parts) {
			this.parts = parts;
			this.lease = EventLease.by(HandOffRegistry.this.owner, HandOffRegistry.this.leaseTime);
			this.deadline = System.nanoTime() + HandOffRegistry.this.leaseTime.toNanos() / 2;
		}

		@Override
		public EventLease lease() {
			return this.lease;
		}

		@Override
		public void committed(List<SerializedEvent> events) {
			long now = System.nanoTime();
			for (SerializedEvent event : events) {
				PublisherRelay relay = of(event);
				relay.backlog().skip(event.sequence());
				relay.queue()
					.add(new QueuedEvent(new LeasedEvent(event, this.lease.claimId(), false), now, this.deadline));
			}
		}

		@Override
		public void cancel() {
			this.parts.forEach((relay, events) -> relay.queue().cancel(events));
		}

	}

}
