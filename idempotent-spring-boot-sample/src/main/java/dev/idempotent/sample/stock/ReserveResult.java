package dev.idempotent.sample.stock;

import org.jspecify.annotations.Nullable;

/**
 * The result of {@link Reservations#reserve}.
 *
 * @param outcome what happened
 * @param reservation the reservation with the given id, or {@code null} if there is none
 */
public record ReserveResult(Outcome outcome, @Nullable Reservation reservation) {

	/**
	 * What happened to a request for a unit.
	 */
	public enum Outcome {

		/**
		 * This call reserved a unit.
		 */
		RESERVED,

		/**
		 * An earlier call with the same id reserved a unit, which is held or confirmed.
		 */
		ALREADY_RESERVED,

		/**
		 * An earlier call with the same id reserved a unit that has been released since.
		 */
		ENDED,

		/**
		 * The id belongs to a reservation of another item or owner.
		 */
		MISMATCHED,

		/**
		 * All units are taken. One may be released later.
		 */
		SOLD_OUT,

		/**
		 * The owner has as many live reservations as the sale allows for one user.
		 */
		LIMIT_REACHED,

		/**
		 * The item has no sale.
		 */
		NOT_ON_SALE

	}

}
