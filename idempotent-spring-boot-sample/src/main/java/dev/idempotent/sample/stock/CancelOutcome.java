package dev.idempotent.sample.stock;

/**
 * The result of {@link Reservations#cancel}.
 */
public enum CancelOutcome {

	/**
	 * This call released the unit.
	 */
	CANCELLED,

	/**
	 * The unit was released earlier.
	 */
	ALREADY_ENDED,

	/**
	 * The unit belongs to an order and stays there.
	 */
	CONFIRMED,

	/**
	 * There is no such reservation.
	 */
	UNKNOWN

}
