package dev.idempotent.outbox.relay;

import java.util.ArrayList;
import java.util.List;

import dev.idempotent.outbox.HandOffs.OrderedHandOff;
import dev.idempotent.outbox.OrderedEvent;
import dev.idempotent.outbox.OutboxStore.LeasedEvent;
import dev.idempotent.outbox.OutboxStore.OrderedRow;
import dev.idempotent.outbox.SerializedEvent;
import org.jspecify.annotations.Nullable;

/**
 * The ordered events of one transaction, from before their insert until its end.
 */
final class OrderedReservation implements OrderedHandOff {

	private final List<Place> places;

	/**
	 * Read before the database's clock, so that no lease ends earlier.
	 */
	private final long deadline;

	private final Runnable onUse;

	/**
	 * Creates a reservation.
	 * @param places the events, with the queues that have space for them
	 * @param onUse called when there are events that were not handed over
	 */
	OrderedReservation(List<Place> places, long deadline, Runnable onUse) {
		this.places = new ArrayList<>(places);
		this.deadline = deadline;
		this.onUse = onUse;
	}

	@Override
	public List<OrderedEvent> events() {
		return this.places.stream().map(Place::toInsert).toList();
	}

	@Override
	public void inserted(List<SerializedEvent> rows) {
		for (int i = 0; i < rows.size(); i++) {
			this.places.set(i, this.places.get(i).insertedAs(rows.get(i), this.deadline));
		}
	}

	@Override
	public void committed() {
		if (this.places.stream().anyMatch((place) -> place.queue() == null)) {
			this.onUse.run();
		}
		this.places.forEach(Place::committed);
	}

	@Override
	public void cancel() {
		this.places.forEach(Place::cancel);
	}

	/**
	 * The place of an event.
	 *
	 * @param queue the queue with whose lease it is inserted, or {@code null}
	 * @param leased the event in the queue, or {@code null} before it is inserted
	 */
	record Place(PublisherRelay relay, OrderedEvent event, @Nullable KeyQueue queue, @Nullable LeasedEvent leased) {

		OrderedEvent toInsert() {
			return (this.queue != null) ? this.event.leasedBy(this.queue.lease) : this.event;
		}

		Place insertedAs(SerializedEvent row, long deadline) {
			if (this.queue == null) {
				return this;
			}
			LeasedEvent inserted = new LeasedEvent(row, this.queue.lease.claimId(),
					new OrderedRow(this.event.keyHash(), row.sequence()));
			this.queue.join(inserted, deadline);
			return new Place(this.relay, this.event, this.queue, inserted);
		}

		void committed() {
			if (this.queue == null || this.leased == null) {
				this.relay.lookForKey(this.event.keyHash(), this.event.event().topic());
			}
			else if (this.queue.committed(this.leased.row())) {
				this.relay.keys().update(this.queue);
			}
			else {
				this.relay.keys().release(this.event.keyHash(), this.event.event().topic(), List.of(this.leased));
			}
		}

		void cancel() {
			if (this.queue == null) {
				return;
			}
			if (this.leased == null) {
				this.queue.leave(this.event.event());
			}
			else {
				this.queue.leave(this.leased.row());
			}
			this.relay.keys().update(this.queue);
		}

	}

}
