package dev.idempotent.outbox;

import java.util.List;

import dev.idempotent.outbox.OutboxStore.EventLease;
import org.jspecify.annotations.Nullable;

/**
 * Hands events over to the relay of the same process at their commit: they are inserted
 * with a lease, so that no relay has to query for them. Internal to this library.
 */
public interface HandOffs {

	/**
	 * Reserves memory for events that are about to be inserted.
	 * @param events without rows yet
	 * @return {@code null} if the events are to be inserted without a lease, because the
	 * queue is full or their publisher is unavailable
	 */
	@Nullable HandOff reserve(List<SerializedEvent> events);

	/**
	 * Reserves memory for ordered events that are about to be inserted.
	 * @param events without leases
	 * @param leasable whether they may be inserted with a lease
	 * @return the reservation
	 */
	OrderedHandOff reserveOrdered(List<OrderedEvent> events, boolean leasable);

	/**
	 * Notifies the relay of committed events without a lease.
	 * @param events with their rows
	 */
	void wake(List<SerializedEvent> events);

	/**
	 * Creates hand-offs for a process without a relay.
	 * @return an instance that never reserves anything
	 */
	static HandOffs none() {
		return new HandOffs() {

			@Override
			public @Nullable HandOff reserve(List<SerializedEvent> events) {
				return null;
			}

			@Override
			public OrderedHandOff reserveOrdered(List<OrderedEvent> events, boolean leasable) {
				return new OrderedHandOff() {

					@Override
					public List<OrderedEvent> events() {
						return events;
					}

					@Override
					public void inserted(List<SerializedEvent> rows) {
					}

					@Override
					public void committed() {
					}

					@Override
					public void cancel() {
					}

				};
			}

			@Override
			public void wake(List<SerializedEvent> events) {
			}

		};
	}

	/**
	 * The reservation of ordered events of one transaction. Ended by {@link #committed}
	 * or {@link #cancel}.
	 */
	interface OrderedHandOff {

		/**
		 * The events to insert, with leases where memory is reserved.
		 */
		List<OrderedEvent> events();

		/**
		 * Called before the commit, with the inserted rows in the order of the events.
		 */
		void inserted(List<SerializedEvent> rows);

		/**
		 * Hands the committed events over.
		 */
		void committed();

		/**
		 * Releases the reservation: the events were rolled back, or the outcome of the
		 * transaction is unknown.
		 */
		void cancel();

	}

	/**
	 * The reservation of one transaction. Ended by {@link #committed} or {@link #cancel}.
	 */
	interface HandOff {

		/**
		 * The lease to insert the events with.
		 */
		EventLease lease();

		/**
		 * Hands the committed events over.
		 */
		void committed(List<SerializedEvent> events);

		/**
		 * Releases the reservation: the events were rolled back, or the outcome of the
		 * transaction is unknown.
		 */
		void cancel();

	}

}
