package dev.idempotent.sample.stock;

/**
 * The result of {@link Reservations#cancel}.
 */
public enum CancelOutcome {

	/**
	 * This call gave the unit back.
	 */
	CANCELLED,

	/**
	 * The unit was given back earlier.
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
