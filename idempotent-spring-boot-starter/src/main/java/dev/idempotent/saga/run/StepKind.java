package dev.idempotent.saga.run;

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
	CANCELLED_CALL;

	boolean isTransactional() {
		return this == TRANSACTION || this == COMPENSATED_TRANSACTION;
	}

	boolean isUndoable() {
		return this != TRANSACTION && this != CALL;
	}

}
