package dev.idempotent.outbox;

import java.time.Duration;

/**
 * How the outbox does, across all instances.
 *
 * @param pending the events that nobody has failed to deliver yet
 * @param waiting the events that wait for another attempt
 * @param dead the events that were given up
 * @param leased how many of the pending that were counted are held by an instance
 * @param oldestPendingAge how long ago the first of the pending was appended, by the
 * database's clock; zero if there is none
 */
public record OutboxSummary(EventCount pending, EventCount waiting, EventCount dead, int leased,
		Duration oldestPendingAge) {
}
