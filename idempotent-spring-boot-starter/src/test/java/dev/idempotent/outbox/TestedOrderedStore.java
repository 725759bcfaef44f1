package dev.idempotent.outbox;

import java.util.List;

import org.springframework.transaction.PlatformTransactionManager;

/**
 * A store of ordered events under test, and the actions on it that are not methods of the
 * store.
 */
public interface TestedOrderedStore {

	OrderedOutboxStore store();

	/**
	 * The manager of the transactions that the store joins.
	 */
	PlatformTransactionManager transactions();

	/**
	 * Ends the leases and delays of all events of a topic, except for locked and blocked
	 * ones.
	 */
	void passTime(String topic);

	/**
	 * The events of a topic, by key and row.
	 */
	List<OrderedRowState> rows(String topic);

	/**
	 * The dead events of a topic in the order in which they died.
	 */
	List<DeadOrderedEvent> dead(String topic);

	/**
	 * A dead event.
	 *
	 * @param event the event, with its sequence
	 * @param keyHash the hash of its topic and key
	 * @param reason why it could not be delivered
	 */
	record DeadOrderedEvent(SerializedEvent event, long keyHash, String reason) {
	}

}
