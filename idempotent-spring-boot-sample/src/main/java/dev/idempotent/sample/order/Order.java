package dev.idempotent.sample.order;

import java.time.Instant;
import java.util.UUID;

/**
 * An order as the shop shows it.
 */
public record Order(UUID orderId, String userId, String item, int amount, OrderStatus status, Instant createdAt) {

}
