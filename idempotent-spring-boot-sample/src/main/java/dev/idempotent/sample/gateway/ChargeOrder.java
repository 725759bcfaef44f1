package dev.idempotent.sample.gateway;

import java.util.UUID;

/**
 * What the gateway is asked for.
 */
record ChargeOrder(UUID orderId, String method) {

}
