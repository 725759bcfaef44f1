package dev.idempotent.aop;

import dev.idempotent.idempotency.Guarantee;

/**
 * The operations of the beans under test, one for each guarantee.
 */
public interface Shop {

	/**
	 * Under {@link Guarantee#LEASE}.
	 */
	Receipt order(Order order);

	/**
	 * Under {@link Guarantee#TRANSACTION}.
	 */
	Receipt book(Order order);

	static Receipt call(Shop shop, Guarantee guarantee, Order order) {
		return (guarantee == Guarantee.LEASE) ? shop.order(order) : shop.book(order);
	}

	record Order(String id) {

		boolean isBad() {
			return this.id.startsWith("bad");
		}

	}

	record Receipt(int number) {
	}

}
