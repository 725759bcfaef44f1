package dev.idempotent.outbox;

import java.time.Duration;

/**
 * Observes relays. All beans of this type are called, on the threads of the relays; they
 * must return quickly and must not throw.
 */
public interface OutboxObserver {

	/**
	 * Called when a batch has been published and its outcomes have been stored.
	 * @param publisher the prefix of its topics
	 * @param batch the result
	 * @param took the duration of publishing
	 */
	default void published(String publisher, BatchResult batch, Duration took) {
	}

	/**
	 * Called when an event that was committed in this process has been delivered right
	 * after its commit.
	 * @param publisher the prefix of its topic
	 * @param sinceCommit the time since the commit
	 */
	default void delivered(String publisher, Duration sinceCommit) {
	}

	/**
	 * Called when an event has been published and the broker reports that no client has
	 * received it. It counts as delivered.
	 * @param publisher the prefix of its topic
	 */
	default void unreceived(String publisher) {
	}

	/**
	 * The result of a batch, as numbers of events.
	 *
	 * @param delivered those that the broker has confirmed
	 * @param waiting those that wait for their next attempt
	 * @param dead those without a next attempt
	 * @param unavailable those whose publisher was unavailable
	 * @param leaseLost those whose lease expired before the attempt ended, so that
	 * another instance may deliver them, too
	 */
	record BatchResult(int delivered, int waiting, int dead, int unavailable, int leaseLost) {

		/**
		 * The size of the batch.
		 * @return the sum of all numbers but the last: an event whose lease was lost also
		 * has one of the other outcomes
		 */
		public int size() {
			return this.delivered + this.waiting + this.dead + this.unavailable;
		}

	}

}
