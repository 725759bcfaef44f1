package dev.idempotent.sample.rush;

import java.util.UUID;

/**
 * What a rush is made of.
 *
 * @param users the number of users
 * @param stock the number of units
 * @param perUser how many units a user may have
 * @param naive whether the users ask for the naive sale, which updates one row
 * @param plain whether each user requests one unit and does nothing else
 * @param chaos whether some requests fail on purpose
 */
record RushPlan(int users, int stock, int perUser, boolean naive, boolean plain, boolean chaos) {

	/**
	 * A rush that measures how fast requests are decided.
	 */
	static RushPlan plain(int users, int stock, boolean naive) {
		return new RushPlan(users, stock, 1, naive, true, false);
	}

	/**
	 * Returns a request for a unit with a new key.
	 */
	Ask ask(String item, String user) {
		return new Ask("/api/flash-sales/" + item + (this.naive ? "/naive" : "/reservations"),
				UUID.randomUUID().toString(), "{\"userId\":\"" + user + "\"}");
	}

	/**
	 * Returns a request that opens the sale.
	 */
	Ask opening(String item) {
		return new Ask("/api/flash-sales", UUID.randomUUID().toString(),
				"{\"item\":\"%s\",\"stock\":%d,\"perUser\":%d}".formatted(item, this.stock, this.perUser));
	}

}
