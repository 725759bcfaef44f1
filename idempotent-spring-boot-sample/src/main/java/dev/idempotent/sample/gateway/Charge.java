package dev.idempotent.sample.gateway;

/**
 * The gateway's response.
 */
record Charge(long chargeId, boolean approved) {

}
