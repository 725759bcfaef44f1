package dev.idempotent.outbox;

import java.util.List;

/**
 * The door to a broker. Any bean of this type takes part.
 */
public interface OutboxPublisher {

	/**
	 * Which topics it serves.
	 * @return what stands before the colon of a topic, such as {@code redis-stream};
	 * letters, digits and hyphens
	 */
	String prefix();

	/**
	 * Sends events and waits until the broker has them. Called by several threads at
	 * once, outside any transaction, and to return well within the lease of the events
	 * ({@code idempotent.outbox.lease}): another instance takes them when it has ended.
	 * <p>
	 * An exception is taken for the fault of one of the events: they are tried again in
	 * halves until it is found, so that some may be sent twice. A broker that does not
	 * answer is not to be thrown but told as {@link Outcome.Unavailable}.
	 * @param events at least one, all with this publisher's prefix, in the order in which
	 * to send them
	 * @return what became of each, in the same order
	 */
	List<Outcome> publish(List<SerializedEvent> events);

}
