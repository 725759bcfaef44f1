package dev.idempotent.outbox;

/**
 * A number of events, counted up to a limit.
 *
 * @param events the number, at most the limit
 * @param exact {@code false} if there may be more
 */
public record EventCount(int events, boolean exact) {
}
