package dev.idempotent.testing;

import java.time.Duration;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Lets each test wait for as long as a busy machine may take, unless it says how long
 * itself. JUnit finds it by {@code META-INF/services}.
 */
public final class Patience implements BeforeAllCallback {

	public static final Duration LIMIT = Duration.ofSeconds(60);

	@Override
	public void beforeAll(ExtensionContext context) {
		Awaitility.setDefaultTimeout(LIMIT);
	}

}
