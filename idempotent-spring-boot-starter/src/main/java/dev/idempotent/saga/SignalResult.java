package dev.idempotent.saga;

/**
 * What has become of a signal that was sent to a {@link Saga}.
 */
public enum SignalResult {

	/**
	 * It is kept: the saga receives it now, or when it waits for it, unless the saga is
	 * undone first. If the transaction of the sender is rolled back, it was not sent.
	 */
	ACCEPTED,

	/**
	 * It is kept, but there is no such saga yet: one that is started within
	 * {@code idempotent.saga.retention} receives it.
	 */
	EARLY,

	/**
	 * An equal signal of this name was accepted before. Nothing has changed.
	 */
	DUPLICATE,

	/**
	 * A signal of this name with another value was accepted before, and counts. Nothing
	 * has changed.
	 */
	DIFFERENT,

	/**
	 * The saga has ended, is being undone, or no longer waits for it, because the time of
	 * the wait has passed. Nothing has changed.
	 */
	TOO_LATE

}
