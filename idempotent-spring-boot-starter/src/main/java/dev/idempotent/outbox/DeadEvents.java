package dev.idempotent.outbox;

import java.util.List;

/**
 * The events that were given up, for operators. Each event is moved or deleted once,
 * however many operators want to at once. Failures are
 * {@link org.springframework.dao.DataAccessException}s; what was done before one stays
 * done, and the step can be repeated.
 */
public interface DeadEvents {

	/**
	 * Lists events.
	 * @param filter which ones
	 * @param after the row behind which to begin; 0 for the first page
	 * @param limit how many at most
	 * @return in the order of their rows
	 */
	List<DeadEvent> list(DeadFilter filter, long after, int limit);

	/**
	 * Gives events all their attempts again, from now on. An event that dies anew
	 * meanwhile stays dead.
	 * @param filter which ones
	 * @return how many there were
	 */
	int retry(DeadFilter filter);

	/**
	 * Deletes events for ever.
	 * @param filter which ones
	 * @return how many there were
	 */
	int discard(DeadFilter filter);

}
