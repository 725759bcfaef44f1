package dev.idempotent;

import org.jspecify.annotations.Nullable;

/**
 * A mistake in the configuration or in an annotation that stops the application at
 * start-up.
 */
public class IdempotentConfigurationException extends RuntimeException {

	private final String action;

	/**
	 * States the mistake and its mend.
	 * @param description what is wrong, with the name of the property or method
	 * @param action what to do
	 * @param cause what revealed the mistake, if anything did
	 */
	public IdempotentConfigurationException(String description, String action, @Nullable Throwable cause) {
		super(description, cause);
		this.action = action;
	}

	/**
	 * What to do about it.
	 * @return a sentence for the person who starts the application
	 */
	public String getAction() {
		return this.action;
	}

}
