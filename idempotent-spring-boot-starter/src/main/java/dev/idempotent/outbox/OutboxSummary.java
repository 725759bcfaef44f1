package dev.idempotent.outbox;

import java.time.Duration;

/**
 * The state of the outbox, across all instances.
 *
 * @param pending the unordered events without a failed attempt
 * @param waiting the unordered events that wait for their next attempt, or their time
 * @param ordered the events that their keys order, whatever their state
 * @param blocked how many of the counted ordered events block their keys
 * @param dead the events without a next attempt
 * @param leased how many of the counted pending events are leased by an instance
 * @param oldestPendingAge how long ago the first pending event was appended, or the
 * oldest ordered one that is the first of its key and has not failed, by the clock of the
 * database; zero if there is none. Of many ordered events only some are examined
 */
public record OutboxSummary(EventCount pending, EventCount waiting, EventCount ordered, int blocked, EventCount dead,
		int leased, Duration oldestPendingAge) {
}
