package dev.idempotent.idempotency;

/**
 * How to handle a duplicate that arrives while the first request is in progress.
 */
public enum OnPending {

	/**
	 * It is refused and can be retried later.
	 */
	REJECT,

	/**
	 * It waits for the response of the first one. If that takes too long, or too many
	 * duplicates wait already, it is refused and can be retried later.
	 */
	WAIT

}
