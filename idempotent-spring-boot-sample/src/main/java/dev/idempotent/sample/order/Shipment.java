package dev.idempotent.sample.order;

import java.util.UUID;

/**
 * The event of an order that was shipped, for handlers in the shop itself.
 *
 * @param failures how many attempts of each handler fail, as the client has requested
 */
public record Shipment(UUID orderId, String userId, int failures) {

}
