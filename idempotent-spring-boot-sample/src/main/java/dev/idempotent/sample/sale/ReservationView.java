package dev.idempotent.sample.sale;

import java.time.Instant;
import java.util.UUID;

import dev.idempotent.sample.stock.Reservation;
import dev.idempotent.sample.stock.ReservationState;
import org.jspecify.annotations.Nullable;

/**
 * A reservation as the shop shows it.
 *
 * @param orderId the order that has the unit, or {@code null}
 */
record ReservationView(String reservationId, String item, String userId, ReservationState state, Instant expiresAt,
		@Nullable UUID orderId) {

	static ReservationView of(Reservation reservation) {
		return new ReservationView(reservation.reservationId(), reservation.item(), reservation.owner(),
				reservation.state(), reservation.expiresAt(), reservation.orderId());
	}

}
