package dev.idempotent.outbox;

/**
 * How many events there are outside of the table that the relays read.
 *
 * @param delayed those that are to be delivered later
 * @param dead those without a next attempt
 */
public record OutboxSummary(EventCount delayed, EventCount dead) {
}
