package dev.idempotent.outbox;

import java.time.Instant;

import org.jspecify.annotations.Nullable;

/**
 * An event to append, as it is collected in a transaction. Internal to this library.
 *
 * @param event without a row yet
 * @param ordered whether it is delivered after the earlier events of its topic and key
 * @param availableAt when to deliver an unordered event at the earliest, or {@code null}
 * for as soon as possible
 */
public record NewEvent(SerializedEvent event, boolean ordered, @Nullable Instant availableAt) {
}
