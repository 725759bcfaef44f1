package dev.idempotent.stream;

import java.util.Map;

import dev.idempotent.stream.StreamObserver.Outcome;

/**
 * Opens a scope around each delivery of an entry, such as the scope of a span.
 */
@FunctionalInterface
public interface StreamObservation {

	/**
	 * Opens a scope on the thread that calls the listener.
	 * @param group the group that the entry is delivered to
	 * @param id the id of the entry in its stream
	 * @param deliveries how often it has been delivered, including this time; 0 if it is
	 * lost
	 * @param headers all fields but the payload
	 * @return closed after the delivery, on the same thread
	 */
	Scope open(ConsumerGroup group, String id, long deliveries, Map<String, String> headers);

	/**
	 * The scope of one delivery.
	 */
	interface Scope {

		/**
		 * Called if the listener has failed.
		 * @param failure what it has thrown
		 */
		void failed(Throwable failure);

		/**
		 * Called at the end.
		 * @param outcome what happens to the entry
		 */
		void close(Outcome outcome);

	}

}
