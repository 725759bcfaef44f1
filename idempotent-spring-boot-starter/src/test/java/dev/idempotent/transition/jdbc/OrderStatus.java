package dev.idempotent.transition.jdbc;

import dev.idempotent.transition.Transitions;

/**
 * The states of the orders of the tests.
 */
enum OrderStatus {

	PENDING, PAID, SHIPPED, CLOSED;

	/**
	 * A payment can be reverted, after which the order is as before.
	 */
	static final Transitions<OrderStatus> TRANSITIONS = Transitions.of(OrderStatus.class)
		.allow(PENDING, PAID, CLOSED)
		.allow(PAID, PENDING, SHIPPED)
		.build();

}
