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
}
