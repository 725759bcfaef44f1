package dev.idempotent.sample.gateway;

import java.util.UUID;

/**
 * A request to charge an order.
 */
record ChargeOrder(UUID orderId, String method) {

}
