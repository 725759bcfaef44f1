package dev.idempotent.outbox;

import java.time.Duration;

/**
 * The state of the outbox, across all instances.
 *
 * @param pending the events without a failed attempt
 * @param waiting the events that wait for their next attempt
 * @param dead the events without a next attempt
 * @param leased how many of the counted pending events are leased by an instance
 * @param oldestPendingAge how long ago the first pending event was appended, by the clock
 * of the database; zero if there is none
 */
public record OutboxSummary(EventCount pending, EventCount waiting, EventCount dead, int leased,
		Duration oldestPendingAge) {

	/**
	 * A number of events, counted up to a limit.
	 *
	 * @param events how many
	 * @param exact {@code false} if there may be more
	 */
	public record EventCount(int events, boolean exact) {

		/**
		 * The largest number that is counted.
		 */
		public static final int LIMIT = 10_000;

		/**
		 * Creates a count from one that stopped at {@code LIMIT + 1}.
		 * @param counted how many events were counted
		 * @return at most the limit
		 */
		public static EventCount of(int counted) {
			return new EventCount(Math.min(counted, LIMIT), counted <= LIMIT);
		}

	}

}
