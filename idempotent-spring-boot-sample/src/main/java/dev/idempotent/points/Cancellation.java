package dev.idempotent.points;

import java.util.UUID;

/**
 * A request that cancels the credit for an order.
 */
record Cancellation(UUID orderId) {

}
