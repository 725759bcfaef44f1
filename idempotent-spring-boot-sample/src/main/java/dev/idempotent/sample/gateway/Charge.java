package dev.idempotent.sample.gateway;

/**
 * The gateway's answer.
 */
record Charge(long chargeId, boolean approved) {

}
