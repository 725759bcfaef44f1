package dev.idempotent.outbox;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

/**
 * What became of one attempt to deliver an event. The reasons are kept and shown to
 * operators: they must not hold payloads or credentials.
 */
public sealed interface Outcome {

	/**
	 * The broker has the event: it is deleted.
	 */
	record Delivered() implements Outcome {
	}

	/**
	 * The event could not be delivered this time; it is tried again until its attempts
	 * are used up.
	 *
	 * @param reason why, in a sentence
	 * @param after when to try again, or {@code null} for the courier's back-off
	 */
	record Retry(String reason, @Nullable Duration after) implements Outcome {
	}

	/**
	 * The event can never be delivered: it is dead.
	 *
	 * @param reason why, in a sentence
	 */
	record Reject(String reason) implements Outcome {
	}

	/**
	 * The broker did not answer, which is not the event's fault: the attempt is not
	 * counted, and nothing more is sent to this publisher for a while.
	 *
	 * @param reason why, in a sentence
	 */
	record Unavailable(String reason) implements Outcome {
	}

}
