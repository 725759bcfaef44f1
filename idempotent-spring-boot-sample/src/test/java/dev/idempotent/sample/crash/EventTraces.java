package dev.idempotent.sample.crash;

import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The traces of events, after all of them were handled.
 *
 * @param due what had been committed before the wait for the last events
 * @param committed what was committed in the end
 * @param entries the entries of the stream
 * @param notifications what the consumer has written
 */
record EventTraces(Set<Fact> due, Set<Fact> committed, List<Entry> entries, List<Notification> notifications) {

	/**
	 * A committed change, for which there is one event.
	 *
	 * @param type the type of the event
	 * @param orderId the order
	 */
	record Fact(String type, String orderId) {

		@Override
		public String toString() {
			return this.type + " of " + this.orderId;
		}

	}

	/**
	 * An entry of the stream.
	 *
	 * @param id its own
	 * @param fields the fields of the event
	 */
	record Entry(String id, Map<String, String> fields) {

		String eventId() {
			return this.fields.getOrDefault("ce_id", "none");
		}

		Fact fact() {
			return new Fact(this.fields.getOrDefault("ce_type", "nothing"),
					this.fields.getOrDefault("ce_subject", "nothing"));
		}

	}

	/**
	 * What the consumer has written for an event.
	 */
	record Notification(String eventId, Fact fact) {

	}

}
