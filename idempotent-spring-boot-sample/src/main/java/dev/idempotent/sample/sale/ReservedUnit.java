package dev.idempotent.sample.sale;

import java.time.Instant;

import dev.idempotent.sample.stock.Reservation;

/**
 * The response to a request for a unit. It has only what never changes in the row, so
 * that a repeated request gets the same bytes also after Redis has lost the first
 * response.
 */
record ReservedUnit(String reservationId, String item, String userId, Instant expiresAt) {

	static ReservedUnit of(Reservation reservation) {
		return new ReservedUnit(reservation.reservationId(), reservation.item(), reservation.owner(),
				reservation.expiresAt());
	}

}
