package dev.idempotent.outbox;

import java.time.Duration;

/**
 * The state of the outbox, across all instances.
 *
 * @param pending the unordered events without a failed attempt
 * @param ordered the events that their keys order, those that wait included
 * @param waiting the unordered events that wait for their next attempt
 * @param dead the events without a next attempt
 * @param leased how many of the counted pending events are leased by an instance
 * @param blocked how many of the counted ordered events block their keys until an
 * operator acts
 * @param oldestPendingAge how long ago the first pending event was appended, by the clock
 * of the database; zero if there is none
 */
public record OutboxSummary(EventCount pending, EventCount ordered, EventCount waiting, EventCount dead, int leased,
		int blocked, Duration oldestPendingAge) {
}
