package dev.idempotent.saga.store;

/**
 * How a step runs and how it is undone. Stored by name.
 */
public enum StepKind {

	/**
	 * In a transaction; not undone.
	 */
	TRANSACTION,

	/**
	 * In a transaction; undone in a transaction.
	 */
	COMPENSATED_TRANSACTION,

	/**
	 * Outside a transaction; not undone.
	 */
	CALL,

	/**
	 * Outside a transaction; undone by an action that needs its result.
	 */
	COMPENSATED_CALL,

	/**
	 * Outside a transaction; undone by a cancellation.
	 */
	CANCELLED_CALL,

	/**
	 * Waits for a signal.
	 */
	SIGNAL,

	/**
	 * Waits for some time.
	 */
	SLEEP,

	/**
	 * Records the version of the method that has reached its place.
	 */
	VERSION;

	/**
	 * Whether the step runs in a transaction.
	 * @return {@code false} if it calls a service, or waits
	 */
	public boolean isTransactional() {
		return this == TRANSACTION || this == COMPENSATED_TRANSACTION;
	}

}
