package dev.idempotent.outbox;

import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * The short way from a commit to the relay of the same process: events are born leased
 * and handed over, so that nobody has to look for them.
 */
public interface HandOffs {

	/**
	 * Reserves room in memory for events that are about to be inserted.
	 * @return {@code null} if they are to be inserted without a lease: there is no room,
	 * or their publisher is unavailable
	 */
	@Nullable HandOff reserve(List<SerializedEvent> events);

	/**
	 * Says that events without a lease have been committed.
	 * @param events with their rows
	 */
	void wake(List<SerializedEvent> events);

	/**
	 * For a process without a relay.
	 * @return never takes anything
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
	 * Room for the events of one transaction. Ends with one of its verbs.
	 */
	interface HandOff {

		/**
		 * What to insert the events with.
		 */
		EventLease lease();

		/**
		 * Hands events over that have been committed.
		 */
		void committed(List<SerializedEvent> events);

		/**
		 * Gives the room back: the events are not there, or it is not known.
		 */
		void cancel();

	}

}
