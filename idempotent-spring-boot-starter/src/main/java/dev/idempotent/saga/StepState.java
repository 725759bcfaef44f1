package dev.idempotent.saga;

/**
 * The state of a recorded step.
 */
public enum StepState {

	/**
	 * Called; the outcome is not recorded.
	 */
	ACTING,

	/**
	 * Has taken effect.
	 */
	DONE,

	/**
	 * Was refused and has not taken effect.
	 */
	REFUSED,

	/**
	 * Is being undone.
	 */
	COMPENSATING,

	/**
	 * Is undone.
	 */
	COMPENSATED,

	/**
	 * Was undone by hand, according to an operator.
	 */
	SKIPPED

}
