package dev.idempotent.saga;

/**
 * A step was refused and has not taken effect. Thrown by an action to refuse its step,
 * and by that step in every run. The saga is undone unless its method catches this.
 */
public class StepRefusedException extends RuntimeException {

	/**
	 * Creates an exception.
	 * @param reason why the step was refused; it is stored and shown to operators, so it
	 * must not contain personal data. Cut after 1000 characters
	 */
	public StepRefusedException(String reason) {
		super(reason);
	}

}
