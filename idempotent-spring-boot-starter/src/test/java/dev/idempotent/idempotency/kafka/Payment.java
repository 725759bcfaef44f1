package dev.idempotent.idempotency.kafka;

/**
 * An event.
 *
 * @param id names it
 * @param amount what is paid
 */
public record Payment(String id, int amount) {
}
