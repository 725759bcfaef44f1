package dev.idempotent.sample.order;

/**
 * The status of an order.
 */
public enum OrderStatus {

	/**
	 * Placed and not yet paid.
	 */
	CREATED,

	/**
	 * Paid, once.
	 */
	PAID,

	/**
	 * Paid and shipped.
	 */
	SHIPPED,

	/**
	 * Cancelled before it was paid.
	 */
	CANCELLED,

	/**
	 * Rejected, because its checkout was undone.
	 */
	REJECTED

}
