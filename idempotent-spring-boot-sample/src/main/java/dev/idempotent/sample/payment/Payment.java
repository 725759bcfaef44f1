package dev.idempotent.sample.payment;

import java.util.UUID;

import dev.idempotent.sample.order.OrderStatus;

/**
 * A payment as the shop confirms it.
 */
record Payment(UUID orderId, UUID paymentId, OrderStatus status) {

}
