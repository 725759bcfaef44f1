package dev.idempotent.outbox;

import java.util.List;

/**
 * Publishes events to a broker. All beans of this type are used.
 */
public interface OutboxPublisher {

	/**
	 * The prefix of the topics that it serves.
	 * @return the part of a topic before the colon, such as {@code redis-stream}:
	 * letters, digits and hyphens
	 */
	String prefix();

	/**
	 * Returns whether an event can itself be the reason why it gets no response, such as
	 * one that is too large to be sent within a timeout. Such an event uses up its
	 * attempts if others of its topic do get responses.
	 * @return {@code false} if only the broker can be the reason, so that no attempt is
	 * counted without a response
	 */
	default boolean canEventPreventResponse() {
		return true;
	}

	/**
	 * Returns whether {@link #publish} stops at the first event of a topic and key that
	 * is not confirmed, and sends none behind it. The outcomes of events behind it do not
	 * matter. Several events of a key are then sent at once; else only the next one, when
	 * the previous one is settled.
	 * @return {@code false} if an event may be sent although an earlier one of its topic
	 * and key was not confirmed
	 */
	default boolean keepsOrder() {
		return false;
	}

	/**
	 * Sends events and waits until the broker has confirmed them. Called concurrently and
	 * outside of a transaction. Must return well within the lease of the events
	 * ({@code idempotent.outbox.relay.lease}), after which another instance claims them.
	 * <p>
	 * An exception is attributed to one of the events: the batch is halved and sent again
	 * until that event is found, so some events may be sent twice. Return
	 * {@link Outcome.Unavailable} instead if the broker does not respond.
	 * @param events at least one, all with this publisher's prefix, in the order in which
	 * to send them
	 * @return the outcome of each event, in the same order
	 */
	List<Outcome> publish(List<SerializedEvent> events);

}
