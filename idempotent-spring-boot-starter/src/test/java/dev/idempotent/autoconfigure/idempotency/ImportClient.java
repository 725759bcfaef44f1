package dev.idempotent.autoconfigure.idempotency;

import org.springframework.boot.autoconfigure.AutoConfigurations;

/**
 * Lets the HTTP clients of an application send keys.
 */
public final class ImportClient {

	/**
	 * For a runner.
	 */
	public static final AutoConfigurations CLASSES = AutoConfigurations.of(IdempotencyClientAutoConfiguration.class);

	private ImportClient() {
	}

}
