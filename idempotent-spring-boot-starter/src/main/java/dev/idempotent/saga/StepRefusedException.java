package dev.idempotent.saga;

/**
 * A step was refused and has not taken effect. Thrown by actions to refuse, and by the
 * step in every run. Unless the saga catches it, the saga is undone.
 */
public class StepRefusedException extends RuntimeException {

	/**
	 * Creates an exception.
	 * @param reason why, as it is stored and shown to operators; without personal data
	 */
	public StepRefusedException(String reason) {
		super(reason);
	}

}
