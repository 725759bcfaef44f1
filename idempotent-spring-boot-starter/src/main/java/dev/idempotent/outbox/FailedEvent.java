package dev.idempotent.outbox;

/**
 * A held event and why it could not be delivered.
 *
 * @param held the event
 * @param reason a sentence for operators
 */
public record FailedEvent(LeasedEvent held, String reason) {
}
