package dev.idempotent.sample.rush;

import java.util.UUID;

/**
 * The parameters of a rush.
 *
 * @param users the number of users
 * @param stock the number of units
 * @param perUser how many units a user may have
 * @param behaviour what each user does
 * @param naive whether they request units of the naive sale
 * @param chaos whether some requests of people fail on purpose
 */
record RushPlan(int users, int stock, int perUser, Behaviour behaviour, boolean naive, boolean chaos) {

	/**
	 * Returns a request that opens the sale.
	 */
	Ask opening(String item) {
		return new Ask("/api/flash-sales", UUID.randomUUID().toString(),
				"{\"item\":\"%s\",\"stock\":%d,\"perUser\":%d}".formatted(item, this.stock, this.perUser));
	}

	/**
	 * Returns a request for a unit with a new key.
	 */
	Ask ask(String item, String user) {
		return new Ask("/api/flash-sales/" + item + (this.naive ? "/naive" : "/reservations"),
				UUID.randomUUID().toString(), "{\"userId\":\"" + user + "\"}");
	}

	/**
	 * What each user of a rush does. Only a sale to people has a verdict.
	 */
	enum Behaviour {

		/**
		 * Looks at the door, reserves, clicks twice, tries a second key, and orders,
		 * cancels or forgets.
		 */
		PEOPLE,

		/**
		 * Requests one unit.
		 */
		RESERVE,

		/**
		 * Requests one unit and orders it.
		 */
		BUY

	}

}
