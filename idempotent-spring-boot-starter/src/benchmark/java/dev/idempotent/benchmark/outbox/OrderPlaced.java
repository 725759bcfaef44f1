package dev.idempotent.benchmark.outbox;

import java.util.List;

/**
 * The event: some 250 bytes as JSON.
 *
 * @param number tells this order from all others of the run
 * @param customer who placed it
 * @param email where the answer goes
 * @param lines what was ordered
 * @param totalCents what it costs
 */
public record OrderPlaced(long number, String customer, String email, List<Line> lines, long totalCents) {

	static OrderPlaced numbered(long number) {
		return new OrderPlaced(number, "customer-" + number % 1000, "customer-" + number % 1000 + "@example.org",
				List.of(new Line("tea-kettle-1.7l-steel", 1, 4_990), new Line("green-tea-sencha-250g", 3, 1_290)),
				8_860);
	}

	/**
	 * One line of the order.
	 *
	 * @param article what was ordered
	 * @param quantity how many of it
	 * @param priceCents what one costs
	 */
	public record Line(String article, int quantity, long priceCents) {
	}

}
