package dev.idempotent.outbox.relay;

import org.jspecify.annotations.Nullable;

/**
 * The comparison of a queue with the first row of its key.
 *
 * @param member the event to publish, or {@code null}
 */
record HeadCheck(Verdict verdict, @Nullable KeyMember member) {

	/**
	 * What to do with the queue.
	 */
	enum Verdict {

		/**
		 * Its first event is the first of its key.
		 */
		PUBLISH,

		/**
		 * There is nothing to do until another event.
		 */
		WAIT,

		/**
		 * Another claim has the first row, or the lease may end soon: release all events.
		 */
		RELEASE,

		/**
		 * The first row is an event without a lease: claim it and those up to the first
		 * event of this queue.
		 */
		CLAIM

	}

}
