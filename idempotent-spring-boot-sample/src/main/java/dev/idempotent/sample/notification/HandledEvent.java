package dev.idempotent.sample.notification;

import java.time.Instant;
import java.util.UUID;

/**
 * An event that a notification was written for.
 */
record HandledEvent(UUID eventId, String type, UUID orderId, Instant handledAt) {

}
