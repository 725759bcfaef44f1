package dev.idempotent.outbox.relay;

import java.util.concurrent.atomic.AtomicInteger;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link RepeatingTask}.
 */
class RepeatingTaskTests {

	private final AtomicInteger steps = new AtomicInteger();

	@ParameterizedTest
	@ValueSource(classes = { IllegalStateException.class, OutOfMemoryError.class, StackOverflowError.class,
			AssertionError.class, InterruptedException.class })
	void survivesAnyExceptionOfAStep(Class<? extends Throwable> type) {
		new RepeatingTask(() -> this.steps.get() < 2, () -> {
			this.steps.incrementAndGet();
			sneak(type);
		}).run();
		assertThat(this.steps).hasValue(2);
	}

	@Test
	void survivesAnInterruptFlagLeftByAStep() {
		new RepeatingTask(() -> this.steps.get() < 2, () -> {
			this.steps.incrementAndGet();
			Thread.currentThread().interrupt();
			Thread.sleep(1);
		}).run();
		assertThat(this.steps).hasValue(2);
		assertThat(Thread.interrupted()).isFalse();
	}

	@SuppressWarnings("unchecked")
	private static <T extends Throwable> void sneak(Class<? extends Throwable> type) throws T {
		try {
			throw (T) type.getDeclaredConstructor().newInstance();
		}
		catch (ReflectiveOperationException ex) {
			throw new IllegalStateException(ex);
		}
	}

}
