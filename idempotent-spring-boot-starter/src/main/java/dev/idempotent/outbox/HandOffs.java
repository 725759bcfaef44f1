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
			public void wake(List<SerializedEvent> events) {
			}

		};
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
