package dev.idempotent.outbox.redis;

import java.util.List;

import dev.idempotent.outbox.Outcome;
import dev.idempotent.outbox.SerializedEvent;

/**
 * Sends the command of each event of a batch.
 */
interface EventSender {

	/**
	 * Sends events.
	 * @return the outcome of each, in the same order
	 */
	List<Outcome> send(List<SerializedEvent> events);

}
