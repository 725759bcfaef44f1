package dev.idempotent.sample.payment;

import java.util.UUID;

import dev.idempotent.sample.order.OrderStatus;

/**
 * A confirmed payment.
 */
record Payment(UUID orderId, UUID paymentId, OrderStatus status) {

}
