package dev.idempotent.outbox.redis;

import java.util.List;

import dev.idempotent.outbox.Outcome;
import dev.idempotent.outbox.SerializedEvent;

/**
 * Adds events to the streams that they name.
 */
interface StreamAppender {

	/**
	 * Adds events.
	 * @return what became of each, in the same order
	 */
	List<Outcome> append(List<SerializedEvent> events);

}
