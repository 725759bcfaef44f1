package dev.idempotent.outbox;

import java.time.Duration;
import java.util.List;
import java.util.UUID;

import org.springframework.transaction.PlatformTransactionManager;

/**
 * A store under test, and what happens to it that is none of its verbs.
 */
public interface TestedOutboxStore {

	OutboxStore store();

	/**
	 * Begins the transactions that the store takes part in.
	 */
	PlatformTransactionManager transactions();

	/**
	 * Ends all leases and waits of a publisher's events, in the order of their rows,
	 * except those that are locked.
	 */
	void passTime(String publisher);

	/**
	 * Inserts an event as another program does, which leaves to the table whatever it
	 * can.
	 * @param delay until when it is not to be delivered; zero if it does not matter
	 */
	void insert(UUID id, String topic, Duration delay);

	/**
	 * What there is of a publisher's events, in the order of their rows.
	 */
	List<OutboxRow> rows(OutboxRow.Place place, String publisher);

}
