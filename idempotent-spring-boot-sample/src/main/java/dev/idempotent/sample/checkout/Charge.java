package dev.idempotent.sample.checkout;

/**
 * The gateway's response to a charge.
 */
record Charge(long chargeId, boolean approved) {

}
