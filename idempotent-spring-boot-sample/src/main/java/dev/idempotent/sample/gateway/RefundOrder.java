package dev.idempotent.sample.gateway;

/**
 * A request to refund a charge.
 */
record RefundOrder(long chargeId) {

}
