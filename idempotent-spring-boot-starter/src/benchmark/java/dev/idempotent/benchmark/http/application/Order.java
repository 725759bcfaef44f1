package dev.idempotent.benchmark.http.application;

import java.util.List;

/**
 * What a client asks for. The members are in alphabetical order, as Jackson writes them.
 *
 * @param customer who places it
 * @param lines what is ordered
 */
record Order(String customer, List<Line> lines) {

	/**
	 * One item.
	 *
	 * @param cents its price
	 * @param quantity how many
	 * @param sku its name
	 */
	record Line(int cents, int quantity, String sku) {
	}

}
