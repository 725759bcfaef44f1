package dev.idempotent.sample.notification;

import java.util.UUID;

import org.jspecify.annotations.Nullable;

/**
 * What a notification needs of an event about an order, whatever its type.
 *
 * @param orderId the order
 * @param item what was ordered, or {@code null} if the event does not say
 * @param amount how many, or {@code null} if the event does not say
 */
record OrderEvent(UUID orderId, @Nullable String item, @Nullable Integer amount) {

}
