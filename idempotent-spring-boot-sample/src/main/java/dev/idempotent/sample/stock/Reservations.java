package dev.idempotent.sample.stock;

import java.util.Optional;
import java.util.UUID;

import org.springframework.stereotype.Service;

/**
 * Reserves units of limited stock.
 */
@Service
public class Reservations {

	/**
	 * Reserves one unit of an item. Repeated calls with the same id reserve one unit.
	 * Must be called outside a transaction, because the gate hears of commits only.
	 * @param reservationId the id of the reservation
	 * @param item the item
	 * @param owner the user who wants the unit
	 * @return what happened
	 */
	public ReserveResult reserve(String reservationId, String item, String owner) {
		throw new UnsupportedOperationException();
	}

	/**
	 * Gives the unit of a held reservation to an order, in the caller's transaction.
	 * @return whether the reservation was held, also past its end
	 */
	public boolean confirm(String reservationId, UUID orderId) {
		throw new UnsupportedOperationException();
	}

	/**
	 * Gives the unit of a held reservation back.
	 * @return what happened
	 */
	public CancelOutcome cancel(String reservationId) {
		throw new UnsupportedOperationException();
	}

	/**
	 * Returns the reservation with the given id.
	 */
	public Optional<Reservation> find(String reservationId) {
		throw new UnsupportedOperationException();
	}

}
