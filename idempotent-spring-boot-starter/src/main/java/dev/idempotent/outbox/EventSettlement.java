package dev.idempotent.outbox;

import java.util.List;

import dev.idempotent.outbox.OutboxStore.FailedEvent;
import dev.idempotent.outbox.OutboxStore.LeasedEvent;

/**
 * Ends leases of events after an attempt at delivery. Internal to this library. Each
 * method commits, and changes only events whose lease still has the given claim id.
 */
public interface EventSettlement {

	/**
	 * Deletes events that have been delivered.
	 * @param events leased events
	 * @return how many were still leased
	 */
	int delivered(List<LeasedEvent> events);

	/**
	 * Ends the leases of events that were not attempted. Their attempts are not counted.
	 * @param events leased events
	 * @return how many were still leased
	 */
	int release(List<LeasedEvent> events);

	/**
	 * Makes events wait until their next attempt is due.
	 * @param events failed events
	 * @return how many were still leased
	 */
	int postpone(List<FailedEvent> events);

	/**
	 * Moves events to the dead events.
	 * @param events failed events
	 * @return how many were still leased
	 */
	int deadLetter(List<FailedEvent> events);

}
