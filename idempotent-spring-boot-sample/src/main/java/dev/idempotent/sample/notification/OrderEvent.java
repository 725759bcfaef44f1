package dev.idempotent.sample.notification;

import java.util.UUID;

import org.jspecify.annotations.Nullable;

/**
 * The parts of an event about an order that a notification needs.
 *
 * @param orderId the order
 * @param item what was ordered, or {@code null} if the event does not contain it
 * @param amount the quantity, or {@code null} if the event does not contain it
 */
record OrderEvent(UUID orderId, @Nullable String item, @Nullable Integer amount) {

}
