package dev.idempotent.outbox;

import java.time.Duration;
import java.util.List;
import java.util.UUID;

import org.jspecify.annotations.Nullable;

/**
 * Lists and changes dead events for operators: those whose attempts are exhausted or that
 * their publisher rejected. Each event is moved or deleted once, even if several
 * operators do so concurrently. Failures are
 * {@link org.springframework.dao.DataAccessException}s; completed batches stay committed,
 * and the call can be repeated.
 */
public interface DeadEvents {

	/**
	 * Lists events. A page examines a limited number of rows, whatever the filter.
	 * @param filter which events
	 * @param after only rows above this one; 0 for the first page
	 * @param limit how many at most
	 * @return a page, in the order of the rows
	 */
	DeadPage list(EventFilter filter, long after, int limit);

	/**
	 * Makes events wait for delivery again, due now and with all their attempts. An event
	 * that becomes dead again during the call stays dead.
	 * @param filter which events
	 * @return how many were moved
	 */
	int retry(EventFilter filter);

	/**
	 * Deletes events.
	 * @param filter which events
	 * @return how many were deleted
	 */
	int discard(EventFilter filter);

	/**
	 * A page of dead events.
	 *
	 * @param events the events that match the filter
	 * @param next the row after which the next page begins, or {@code null} if this is
	 * the last one; a page that examined its limit of rows can be empty without being the
	 * last one
	 * @param newest the row of the event that died last, for {@link EventFilter#upTo()},
	 * so that a change affects no later ones; 0 if there is none
	 */
	record DeadPage(List<DeadEvent> events, @Nullable Long next, long newest) {
	}

	/**
	 * A dead event, without its payload and its key.
	 *
	 * @param id the id of the event; zeros if another program has stored an invalid one
	 * @param row its row, for paging
	 * @param type the type of the event
	 * @param topic the topic of the event
	 * @param ordered whether the events of its key are delivered one after the other
	 * @param attempts how many attempts were made
	 * @param deadFor how long ago it became dead, by the clock of the database
	 * @param lastError the reason, or {@code null} if none is known
	 * @param payloadBytes the size of the payload in bytes
	 */
	record DeadEvent(UUID id, long row, String type, String topic, boolean ordered, int attempts, Duration deadFor,
			@Nullable String lastError, long payloadBytes) {
	}

}
