package dev.idempotent.outbox.courier;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import java.util.stream.Collectors;

import dev.idempotent.outbox.EventLease;
import dev.idempotent.outbox.HandOffs;
import dev.idempotent.outbox.HeldEvent;
import dev.idempotent.outbox.StoredEvent;
import dev.idempotent.outbox.courier.HandOffQueue.Queued;
import org.jspecify.annotations.Nullable;

/**
 * Takes events over at their commit, each for its publisher.
 */
final class HandOffDesk implements HandOffs {

	private final CourierSettings settings;

	private final Map<String, PublisherCourier> couriers;

	private final Runnable onUse;

	private volatile boolean open;

	/**
	 * Creates a desk that takes nothing yet.
	 * @param couriers by publisher
	 * @param onUse is told that there are events that somebody has to look for
	 */
	HandOffDesk(CourierSettings settings, Map<String, PublisherCourier> couriers, Runnable onUse) {
		this.settings = settings;
		this.couriers = couriers;
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
	public @Nullable HandOff reserve(List<StoredEvent> events) {
		if (!this.open || !events.stream().allMatch((event) -> of(event).circuit().isClosed(event.topic()))) {
			return null;
		}
		Map<PublisherCourier, List<StoredEvent>> parts = events.stream().collect(Collectors.groupingBy(this::of));
		List<PublisherCourier> reserved = new ArrayList<>();
		for (Map.Entry<PublisherCourier, List<StoredEvent>> part : parts.entrySet()) {
			if (!part.getKey().queue().reserve(part.getValue())) {
				reserved.forEach((courier) -> courier.queue().cancel(parts.getOrDefault(courier, List.of())));
				return null;
			}
			reserved.add(part.getKey());
		}
		return new Reservation(parts);
	}

	/**
	 * Events to what is unavailable are found by those that try it.
	 */
	@Override
	public void wake(List<StoredEvent> events) {
		this.onUse.run();
		Predicate<StoredEvent> sendable = (event) -> of(event).circuit().isClosed(event.topic());
		events.forEach((event) -> of(event).circuit().expect(event.topic()));
		events.stream().filter(sendable).forEach((event) -> of(event).backlog().lookFrom(event.sequence()));
		events.stream().filter(sendable).map(this::of).distinct().forEach(PublisherCourier::wake);
	}

	private PublisherCourier of(StoredEvent event) {
		PublisherCourier courier = this.couriers.get(event.publisher());
		if (courier == null) {
			throw new IllegalStateException("There is no publisher for " + event.publisher());
		}
		return courier;
	}

	private final class Reservation implements HandOff {

		private final Map<PublisherCourier, List<StoredEvent>> parts;

		private final EventLease lease;

		/**
		 * Taken before the database's clock is: the lease ends no earlier than this
		 * tells.
		 */
		private final long deadline;

		Reservation(Map<PublisherCourier, List<StoredEvent>> parts) {
			CourierSettings settings = HandOffDesk.this.settings;
			this.parts = parts;
			this.lease = EventLease.by(settings.owner(), settings.lease());
			this.deadline = System.nanoTime() + settings.lease().toNanos() / 2;
		}

		@Override
		public EventLease lease() {
			return this.lease;
		}

		@Override
		public void committed(List<StoredEvent> events) {
			long now = System.nanoTime();
			for (StoredEvent event : events) {
				PublisherCourier courier = of(event);
				courier.backlog().passed(event.sequence());
				courier.queue().add(new Queued(new HeldEvent(event, this.lease.claimId(), false), now, this.deadline));
			}
		}

		@Override
		public void cancel() {
			this.parts.forEach((courier, events) -> courier.queue().cancel(events));
		}

	}

}
