package dev.idempotent.sample.checkout;

/**
 * What the gateway says about a charge.
 */
record Charge(long chargeId, boolean approved) {

}
