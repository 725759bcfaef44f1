package dev.idempotent.outbox;

import java.util.Collection;
import java.util.List;

/**
 * Appends events in the transaction of the calling thread. They are delivered at least
 * once if it commits, never if it does not. Part of a transaction that is rolled back to
 * a savepoint takes its events with it; one that is suspended keeps them for itself.
 */
public interface Outbox {

	/**
	 * Appends events, in this order. Their payloads are written here and now: later
	 * changes to them have no effect.
	 * @param events may be empty
	 * @throws OutboxTransactionException if the calling thread has no transaction that
	 * writes to the outbox's database, or has committed it
	 * @throws IllegalArgumentException if an event has no topic that a publisher serves,
	 * or a payload that cannot be written; then none of them is appended
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
	 * Makes sure that events could be appended here and now.
	 * @throws OutboxTransactionException if not, as {@link #append(Collection)}
	 */
	void requireTransaction();

}
