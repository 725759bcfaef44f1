package dev.idempotent.outbox;

import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * Keeps events from their append until their delivery. Each verb is one atomic step.
 * {@link #append} takes part in the transaction of the calling thread; the others commit
 * by themselves and touch only events that are still held under the claim that they name:
 * what has been taken over meanwhile is left alone and not counted. Failures are
 * {@link org.springframework.dao.DataAccessException}s.
 */
public interface OutboxStore {

	/**
	 * What a transaction that can take events binds to its thread: the key of its
	 * resource.
	 * @return such as a {@code DataSource}
	 */
	Object transactionResource();

	/**
	 * Whether a lease that is given at {@link #append} begins then.
	 * @return {@code false} if it would begin with the transaction
	 */
	boolean leasesAtBirth();

	/**
	 * Inserts events in the transaction of the calling thread, in this order and in one
	 * round trip.
	 * @param events without rows yet
	 * @param lease holds them from now on, its attempt being counted; {@code null} to
	 * leave them to whoever claims them
	 * @return the same events with their rows
	 */
	List<SerializedEvent> append(List<SerializedEvent> events, @Nullable EventLease lease);

	/**
	 * Takes events that are due and held by nobody, and counts an attempt for each, which
	 * stays counted if they cannot be read.
	 * @param lease holds them from now on
	 * @param scope which ones
	 * @return in the order of their rows
	 */
	List<LeasedEvent> claim(EventLease lease, ClaimScope scope);

	/**
	 * Tells how far there are events, of any publisher, held or not.
	 * @param above a row
	 * @return the last row that is above it, or itself if there is none
	 */
	long lastRow(long above);

	/**
	 * Deletes events that have been delivered.
	 * @return how many were still held
	 */
	int delivered(List<LeasedEvent> events);

	/**
	 * Gives events back as if they had never been claimed: their attempts are not
	 * counted.
	 * @return how many were still held
	 */
	int release(List<LeasedEvent> events);

	/**
	 * Keeps events for a later attempt, where nobody has to read past them to find those
	 * that are due.
	 * @return how many were still held
	 */
	int park(List<WaitingEvent> events);

	/**
	 * Moves events to the dead.
	 * @return how many were still held
	 */
	int deadLetter(List<FailedEvent> events);

	/**
	 * Parks events that other programs have inserted for later.
	 * @param limit how many at most
	 * @return how many there were
	 */
	int parkDelayed(int limit);

}
