package dev.idempotent.idempotency.kafka;

/**
 * Another event.
 *
 * @param id names it
 */
public record Refund(String id) {
}
