package dev.idempotent.outbox;

import java.time.Duration;

/**
 * What a relay found when it last read the table of events from its first to its last
 * row.
 *
 * @param events how many rows there were
 * @param waiting how many of the rows that are next in their lanes wait for another
 * attempt or are leased
 * @param blocked how many of them wait for an operator
 * @param complete whether all rows were counted: those of paused and unavailable topics
 * are passed over, and the rest of a long queue of one key
 * @param oldestAge how long ago the oldest of the rows that are next in their lanes was
 * appended, without those of paused topics and those that had a failed attempt; zero if
 * there is none
 * @param age how long ago the relay had read the last row
 */
public record OutboxBacklog(long events, long waiting, long blocked, boolean complete, Duration oldestAge,
		Duration age) {
}
