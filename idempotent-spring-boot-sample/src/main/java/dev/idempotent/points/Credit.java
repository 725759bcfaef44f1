package dev.idempotent.points;

import java.util.UUID;

/**
 * A request that credits an account with points for an order.
 */
record Credit(String account, UUID orderId, int points) {

}
