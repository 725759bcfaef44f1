package dev.idempotent.sample.order;

/**
 * How far an order has come.
 */
public enum OrderStatus {

	/**
	 * Placed and not yet paid.
	 */
	CREATED,

	/**
	 * Paid, once.
	 */
	PAID

}
