package dev.idempotent.sample.stock;

import java.util.List;

/**
 * What the ledger has committed about a sale, or a part of it. The versions order facts
 * about the same shelf or owner.
 *
 * @param perUser how many live reservations a user may have
 * @param shelves facts about shelves
 * @param owners facts about owners
 */
record StockFacts(int perUser, List<Shelf> shelves, List<Owner> owners) {

	/**
	 * A part of the stock that is counted in a row of its own.
	 *
	 * @param number the number of the shelf
	 * @param version grows with each change
	 * @param free the units that nothing holds
	 */
	record Shelf(int number, long version, int free) {
	}

	/**
	 * A user and the ids of the user's live reservations.
	 *
	 * @param owner the user
	 * @param version grows with each change
	 * @param reservationIds the ids of the live reservations
	 */
	record Owner(String owner, long version, List<String> reservationIds) {
	}

}
