package dev.idempotent.saga;

/**
 * The state of a recorded step.
 */
public enum StepState {

	/**
	 * The action was called; its outcome is not recorded.
	 */
	ACTING,

	/**
	 * The action has taken effect.
	 */
	DONE,

	/**
	 * The action was refused and has not taken effect.
	 */
	REFUSED,

	/**
	 * The undo was called; its outcome is not recorded, or the undo was refused.
	 */
	COMPENSATING,

	/**
	 * The step is undone.
	 */
	COMPENSATED,

	/**
	 * An operator has stated that the step was undone by hand.
	 */
	SKIPPED

}
