package dev.idempotent.sample.stock;

/**
 * The state of a reservation.
 */
public enum ReservationState {

	/**
	 * The unit is held until the reservation expires.
	 */
	HELD,

	/**
	 * The unit belongs to an order.
	 */
	CONFIRMED,

	/**
	 * The unit was released, because the reservation was cancelled or has expired.
	 */
	ENDED

}
