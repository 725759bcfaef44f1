package dev.idempotent.stream;

import java.time.Duration;
import java.util.Collection;
import java.util.Locale;

/**
 * Observes the listeners of this process. All beans of this type are called. They must
 * return quickly; what they throw is logged and ignored.
 */
public interface StreamObserver {

	/**
	 * Called once, before the first entry is processed.
	 * @param groups all groups that this process listens to
	 */
	default void listening(Collection<ConsumerGroup> groups) {
	}

	/**
	 * Called after each delivery of an entry, on the thread that has called the listener.
	 * @param entry what has been processed
	 */
	default void processed(ProcessedEntry entry) {
	}

	/**
	 * A delivery that has ended.
	 *
	 * @param group the group that the entry was delivered to
	 * @param outcome what happens to the entry
	 * @param deliveries how often it has been delivered, including this time; 0 if it is
	 * lost
	 * @param took the duration of the listener's call and of releasing or moving the
	 * entry, without its acknowledgement
	 */
	record ProcessedEntry(ConsumerGroup group, Outcome outcome, long deliveries, Duration took) {
	}

	/**
	 * What happens to an entry after a delivery.
	 */
	enum Outcome {

		/**
		 * The listener has returned. The entry is acknowledged, after an outage if
		 * necessary.
		 */
		ACKNOWLEDGED,

		/**
		 * The listener has failed and the entry is delivered again, or Redis has not
		 * confirmed that it was moved to the dead-letter stream.
		 */
		REDELIVERED,

		/**
		 * The entry has been moved to the dead-letter stream.
		 */
		DEAD,

		/**
		 * The entry was trimmed or deleted before it was processed.
		 */
		LOST;

		/**
		 * The value of a tag.
		 * @return the name in lower case
		 */
		public String tag() {
			return name().toLowerCase(Locale.ROOT);
		}

	}

}
