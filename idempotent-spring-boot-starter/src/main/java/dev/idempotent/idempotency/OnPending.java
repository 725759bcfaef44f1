package dev.idempotent.idempotency;

/**
 * What becomes of a duplicate that comes while the first request still runs.
 */
public enum OnPending {

	/**
	 * It is told to come back.
	 */
	REJECT,

	/**
	 * It waits for the answer of the first one, for a bounded time and among a bounded
	 * number of others; then it is told to come back.
	 */
	WAIT

}
