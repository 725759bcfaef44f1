package dev.idempotent.outbox;

import java.util.Collection;
import java.util.List;

/**
 * Appends events in the transaction of the calling thread. They are delivered at least
 * once if it commits, and never if it rolls back. A rollback to a savepoint drops the
 * events that were appended after it. Events of a suspended transaction are kept.
 */
public interface Outbox {

	/**
	 * Appends events in this order. Their payloads are written immediately, so later
	 * changes to them have no effect.
	 * @param events may be empty
	 * @throws OutboxTransactionException if the calling thread has no active transaction
	 * on the database of the outbox
	 * @throws IllegalArgumentException if no publisher serves the topic of an event, or
	 * its payload cannot be written; none of the events is appended then
	 */
	void append(Collection<OutboxEvent> events);

	/**
	 * Appends one event.
	 * @param event the event
	 * @throws OutboxTransactionException as {@link #append(Collection)}
	 * @throws IllegalArgumentException as {@link #append(Collection)}
	 */
	default void append(OutboxEvent event) {
		append(List.of(event));
	}

	/**
	 * Checks that events can be appended in the calling thread. If the database then
	 * rolls back the transaction's work and goes on, as MySQL, MariaDB and H2 do to break
	 * a deadlock, a commit with later events fails.
	 * @throws OutboxTransactionException if not, as {@link #append(Collection)}
	 */
	void requireTransaction();

}
