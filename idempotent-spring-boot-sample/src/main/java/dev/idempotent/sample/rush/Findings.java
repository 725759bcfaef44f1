package dev.idempotent.sample.rush;

import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * What one snapshot of the database says about a sale.
 *
 * @param shelves errors in the counts of taken units
 * @param orders errors in confirmed reservations and orders
 * @param owners errors in the lists of live reservations
 * @param notifications orders without exactly one notification
 * @param reservations all reservations that were ever made
 * @param free the units that nothing holds
 * @param settled whether all holds have ended some time ago
 */
record Findings(List<String> shelves, List<String> orders, List<String> owners, List<String> notifications,
		List<Reserved> reservations, int free, boolean settled) {

	/**
	 * A reservation in the database.
	 */
	record Reserved(String reservationId, String owner, String state, @Nullable String orderId) {

	}

}
