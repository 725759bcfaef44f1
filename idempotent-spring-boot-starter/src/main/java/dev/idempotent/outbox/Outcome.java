package dev.idempotent.outbox;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

/**
 * The outcome of one attempt to deliver an event. Reasons are stored and shown to
 * operators; they must not contain payloads or credentials.
 */
public sealed interface Outcome {

	/**
	 * The broker has confirmed the event, which is deleted from the outbox.
	 */
	record Delivered() implements Outcome {
	}

	/**
	 * The event could not be delivered. It waits for its next attempt, or is dead if its
	 * attempts are exhausted.
	 *
	 * @param reason a sentence for operators
	 * @param after the delay until the next attempt, or {@code null} for the backoff of
	 * the relay
	 */
	record Retry(String reason, @Nullable Duration after) implements Outcome {
	}

	/**
	 * The event can never be delivered. It is dead at once.
	 *
	 * @param reason a sentence for operators
	 */
	record Reject(String reason) implements Outcome {
	}

	/**
	 * The broker did not respond. The attempt is not counted, and only a few events are
	 * sent there until the broker responds again.
	 *
	 * @param reason a sentence for operators
	 * @param scope what is unavailable
	 */
	record Unavailable(String reason, Scope scope) implements Outcome {

		/**
		 * The whole publisher is unavailable.
		 * @param reason a sentence for operators
		 */
		public Unavailable(String reason) {
			this(reason, Scope.PUBLISHER);
		}

	}

	/**
	 * What is unavailable.
	 */
	enum Scope {

		/**
		 * Everything that the publisher serves, such as the whole broker. Treated as
		 * {@link #DESTINATION} if the broker responded to other events of the batch.
		 */
		PUBLISHER,

		/**
		 * The topic of the event. Other topics of the publisher are still served.
		 */
		DESTINATION

	}

}
