package dev.idempotent.saga.model;

/**
 * The verbs that a step is written with.
 */
enum StepKind {

	/**
	 * {@code runInTransaction} with {@code compensate}.
	 */
	TRANSACTION,

	/**
	 * {@code run} with {@code compensate}, which needs the result.
	 */
	COMPENSATE,

	/**
	 * {@code run} with {@code cancel}, which needs a participant with tombstones.
	 */
	CANCEL,

	/**
	 * {@code run} only: not undone.
	 */
	PLAIN;

	boolean isRemote() {
		return this != TRANSACTION;
	}

	boolean hasUndoCall() {
		return this == COMPENSATE || this == CANCEL;
	}

}
