package dev.idempotent.sample.gateway;

/**
 * The gateway's response to a refund.
 */
record Refund(long refundId, long chargeId) {

}
