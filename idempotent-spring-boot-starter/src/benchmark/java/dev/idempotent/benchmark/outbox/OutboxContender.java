package dev.idempotent.benchmark.outbox;

import dev.idempotent.benchmark.Contender;

/**
 * The shop with an outbox. Delivery is off until a scenario starts it.
 */
interface OutboxContender extends Contender {

	/**
	 * Places an order and appends its event in the same transaction.
	 * @return the order's number, when the transaction has committed
	 */
	long place();

	/**
	 * Begins to deliver: what was appended before, and what will be.
	 */
	void startDelivery();

	/**
	 * Ends what has been begun, and delivers nothing more.
	 */
	void stopDelivery();

	Shop shop();

	EventStream stream();

	/**
	 * Forgets what earlier measurements left behind.
	 */
	default void tidy() {
		stream().clear();
		shop().database().tidy();
	}

}
