package dev.idempotent.outbox.redis;

import java.util.List;

import dev.idempotent.outbox.Outcome;
import dev.idempotent.outbox.SerializedEvent;

/**
 * Adds events to the streams that their topics name.
 */
interface StreamAppender {

	/**
	 * Adds events.
	 * @return the outcome of each, in the same order
	 */
	List<Outcome> append(List<SerializedEvent> events);

}
