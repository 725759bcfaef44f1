package dev.idempotent.sample.stock;

import java.time.Instant;
import java.util.UUID;

import org.jspecify.annotations.Nullable;

/**
 * One unit of an item, reserved for its owner.
 *
 * @param reservationId the id, chosen by the caller of {@link Reservations#reserve}
 * @param item the item
 * @param owner the user who holds the unit
 * @param state the current state
 * @param expiresAt when a held reservation ends by itself
 * @param orderId the order that confirmed it, or {@code null}
 */
public record Reservation(String reservationId, String item, String owner, ReservationState state, Instant expiresAt,
		@Nullable UUID orderId) {

}
