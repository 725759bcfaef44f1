package dev.idempotent.saga;

/**
 * The status of a saga.
 */
public enum SagaStatus {

	/**
	 * Started in the background, and not run yet.
	 */
	STARTED,

	/**
	 * Running its steps.
	 */
	EXECUTING,

	/**
	 * Undoing its steps.
	 */
	COMPENSATING,

	/**
	 * Ended: each step has taken effect once.
	 */
	COMPLETED,

	/**
	 * Ended: the steps that had taken effect are undone.
	 */
	COMPENSATED,

	/**
	 * Stopped, because it could neither be completed nor undone: an operator must decide.
	 */
	HALTED;

	/**
	 * Returns whether the saga can still change by itself.
	 * @return {@code false} if it has ended or is halted
	 */
	public boolean isOpen() {
		return this == STARTED || this == EXECUTING || this == COMPENSATING;
	}

}
