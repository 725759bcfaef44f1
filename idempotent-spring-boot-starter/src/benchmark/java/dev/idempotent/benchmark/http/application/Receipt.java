package dev.idempotent.benchmark.http.application;

import java.util.concurrent.atomic.LongAdder;

/**
 * What a client gets.
 *
 * @param order what it asked for
 * @param status always the same
 */
record Receipt(Order order, String status) {

	private static final LongAdder given = new LongAdder();

	/**
	 * The work of all handlers. Counts, so that a replay that ran would be noticed.
	 */
	static Receipt of(Order order) {
		given.increment();
		return new Receipt(order, "placed");
	}

	static long given() {
		return given.sum();
	}

}
