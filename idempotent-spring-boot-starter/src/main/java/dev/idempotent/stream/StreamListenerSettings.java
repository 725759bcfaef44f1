package dev.idempotent.stream;

import java.time.Duration;

/**
 * What holds for all listeners.
 *
 * @param minIdleTime after which time an entry is taken over that nobody works on
 * @param maxDeliveries how often an entry is brought before it goes to the stream of the
 * dead; at least 1
 */
public record StreamListenerSettings(Duration minIdleTime, int maxDeliveries) {
}
