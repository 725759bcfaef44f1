package dev.idempotent.outbox;

import java.time.Duration;

/**
 * Is told what relays do, on their threads. Must return at once and throw nothing.
 */
public interface OutboxObserver {

	/**
	 * A batch has been published and settled.
	 * @param publisher the prefix of its topics
	 * @param batch what became of it
	 * @param took how long publishing took
	 */
	default void published(String publisher, BatchResult batch, Duration took) {
	}

	/**
	 * An event that was handed over at its commit has been delivered.
	 * @param publisher the prefix of its topic
	 * @param sinceCommit how long that took
	 */
	default void delivered(String publisher, Duration sinceCommit) {
	}

	/**
	 * What became of the events of a batch.
	 *
	 * @param delivered those that the broker has
	 * @param retried those that are tried again
	 * @param dead those that were given up
	 * @param unavailable those whose publisher was unavailable
	 * @param lost those whose lease had ended, so that another instance may deliver them
	 * too
	 */
	record BatchResult(int delivered, int retried, int dead, int unavailable, int lost) {

		/**
		 * The size of the batch.
		 * @return all but the lost, which are among the others
		 */
		public int size() {
			return this.delivered + this.retried + this.dead + this.unavailable;
		}

	}

}
