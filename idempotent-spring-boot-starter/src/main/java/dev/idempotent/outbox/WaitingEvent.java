package dev.idempotent.outbox;

import java.time.Duration;

/**
 * A failed event that is to be tried again.
 *
 * @param failed the event and why
 * @param delay how long to wait
 */
public record WaitingEvent(FailedEvent failed, Duration delay) {
}
