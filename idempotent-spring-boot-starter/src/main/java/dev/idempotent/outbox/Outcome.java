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
	 * @param after when to try again, or {@code null} for the relay's backoff
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
	 * counted, and little more is sent there until it answers again.
	 *
	 * @param reason why, in a sentence
	 * @param scope how much is unavailable
	 */
	record Unavailable(String reason, Scope scope) implements Outcome {

		/**
		 * Says that the whole publisher is unavailable.
		 * @param reason why, in a sentence
		 */
		public Unavailable(String reason) {
			this(reason, Scope.PUBLISHER);
		}

	}

	/**
	 * How much is unavailable.
	 */
	enum Scope {

		/**
		 * Everything that the publisher serves, such as the whole broker. If other events
		 * of the same batch were answered, it is taken for {@link #DESTINATION}.
		 */
		PUBLISHER,

		/**
		 * The event's topic: others of the publisher go on being served.
		 */
		DESTINATION

	}

}
