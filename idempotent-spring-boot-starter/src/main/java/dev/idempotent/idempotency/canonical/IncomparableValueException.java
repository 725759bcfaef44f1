package dev.idempotent.idempotency.canonical;

/**
 * Thrown for a value that has no canonical form. Its message names classes and members,
 * and no values.
 */
public final class IncomparableValueException extends IllegalArgumentException {

	/**
	 * Creates an exception.
	 * @param message what cannot be compared, and why
	 */
	public IncomparableValueException(String message) {
		super(message);
	}

	/**
	 * Creates an exception with a cause.
	 * @param message what cannot be compared, and why
	 * @param cause the cause
	 */
	public IncomparableValueException(String message, Throwable cause) {
		super(message, cause);
	}

}
