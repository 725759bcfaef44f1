package dev.idempotent.testing;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import org.awaitility.Awaitility;
import org.awaitility.pollinterval.IterativePollInterval;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Lets each test wait for as long as a busy machine may take, unless it says how long
 * itself, and look at once and often at first. JUnit finds it by
 * {@code META-INF/services}.
 */
public final class Patience implements BeforeAllCallback {

	public static final Duration LIMIT = Duration.ofSeconds(60);

	private static final Duration LONGEST_INTERVAL = Duration.ofMillis(100);

	@Override
	public void beforeAll(ExtensionContext context) {
		Awaitility.setDefaultTimeout(LIMIT);
		Awaitility.setDefaultPollInterval(IterativePollInterval.iterative(
				(interval) -> (interval.compareTo(LONGEST_INTERVAL) < 0) ? interval.multipliedBy(2) : LONGEST_INTERVAL,
				Duration.ofMillis(5)));
	}

	/**
	 * Waits for a latch, within a callback that cannot throw checked exceptions, too.
	 */
	public static void await(CountDownLatch latch) {
		try {
			assertThat(latch.await(LIMIT.toSeconds(), TimeUnit.SECONDS)).as("opened in time").isTrue();
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

}
