package dev.idempotent.benchmark.outbox;

import java.util.List;

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
	 * Appends an event to the calling thread's transaction, if this contender keeps the
	 * order of the events of a key.
	 */
	default void append(OrderPlaced event, String key) {
		throw new UnsupportedOperationException(name() + " has no keys");
	}

	/**
	 * Called right after the time of a commit was noted.
	 * @param order the order's number
	 */
	default void committed(long order) {
	}

	/**
	 * Begins to deliver: what was appended before, and what will be.
	 */
	void startDelivery();

	/**
	 * Ends what has been begun, and delivers nothing more.
	 */
	void stopDelivery();

	Shop shop();

	/**
	 * How often rows other than orders have been written.
	 */
	default long otherRowWrites() {
		return Shop.otherRowWrites(List.of(shop()));
	}

	/**
	 * Whether events that were appended earlier are delivered from the database.
	 */
	default boolean hasBacklog() {
		return true;
	}

	EventStream stream();

	/**
	 * Forgets what earlier measurements left behind.
	 */
	default void tidy() {
		stream().clear();
		shop().database().tidy();
	}

}
