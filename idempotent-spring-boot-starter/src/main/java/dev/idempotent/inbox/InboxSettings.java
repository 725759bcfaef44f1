package dev.idempotent.inbox;

import java.time.Duration;

/**
 * What holds for all listeners.
 *
 * @param claimIdle after which time an entry is taken over that nobody works on
 * @param maxDeliveries how often an entry is brought before it goes to the stream of the
 * dead; at least 1
 */
public record InboxSettings(Duration claimIdle, int maxDeliveries) {
}
