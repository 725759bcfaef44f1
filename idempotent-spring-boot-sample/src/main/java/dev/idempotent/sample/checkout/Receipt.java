package dev.idempotent.sample.checkout;

import java.util.UUID;

/**
 * A checkout that is complete.
 */
record Receipt(UUID orderId, long chargeId, int points) {

}
