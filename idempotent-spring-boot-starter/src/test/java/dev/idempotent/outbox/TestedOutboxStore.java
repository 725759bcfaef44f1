package dev.idempotent.outbox;

import java.time.Duration;
import java.util.List;
import java.util.UUID;

import org.springframework.transaction.PlatformTransactionManager;

/**
 * A store under test, and the actions on it that are not methods of the store.
 */
public interface TestedOutboxStore {

	OutboxStore store();

	/**
	 * The manager of the transactions that the store joins.
	 */
	PlatformTransactionManager transactions();

	/**
	 * Ends the leases and delays of all events of a publisher, in the order of their
	 * rows, except for locked rows.
	 */
	void passTime(String publisher);

	/**
	 * Inserts an event like another program that relies on the defaults of the table.
	 * @param delay the time until it is due; zero for the default of the table
	 */
	void insert(UUID id, String topic, Duration delay);

	/**
	 * The events of a publisher, in the order of their rows.
	 */
	List<OutboxRow> rows(OutboxRow.Place place, String publisher);

}
