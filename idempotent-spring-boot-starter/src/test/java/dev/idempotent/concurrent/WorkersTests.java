package dev.idempotent.concurrent;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Tests for {@link Workers}.
 */
class WorkersTests {

	private static final Duration LONG = Duration.ofMinutes(1);

	private final Workers workers = new Workers(true);

	private final AtomicInteger steps = new AtomicInteger();

	private final AtomicInteger failures = new AtomicInteger();

	@AfterEach
	void stop() {
		assertThat(this.workers.stop(LONG)).isTrue();
	}

	@Test
	void continueAfterEachFailure() {
		this.workers.start("worker", () -> {
			this.steps.incrementAndGet();
			throw new NoClassDefFoundError("of the test");
		}, (failure) -> {
			this.failures.incrementAndGet();
			throw new IllegalStateException("of the test");
		});
		await().until(() -> this.steps.get() > 3 && this.failures.get() > 3);
	}

	@Test
	void endPausesWhenTheyAreStopped() {
		CountDownLatch pausing = new CountDownLatch(1);
		this.workers.start("worker", () -> {
			pausing.countDown();
			this.workers.pause(Duration.ofDays(1));
		}, (failure) -> this.failures.incrementAndGet());
		await().until(() -> pausing.getCount() == 0);
		assertThat(this.workers.stop(LONG)).isTrue();
		assertThat(this.failures).hasValue(0);
	}

	@Test
	void waitForStepsInProgressForALimitedTime() {
		CountDownLatch end = new CountDownLatch(1);
		this.workers.start("worker", () -> {
			this.steps.incrementAndGet();
			awaitEnd(end);
		}, (failure) -> this.failures.incrementAndGet());
		await().until(() -> this.steps.get() == 1);
		assertThat(this.workers.stop(Duration.ofMillis(10))).isFalse();
		end.countDown();
		assertThat(this.workers.stop(LONG)).isTrue();
		assertThat(this.steps).hasValue(1);
	}

	@Test
	void startNothingOnceTheyAreStopped() {
		assertThat(this.workers.stop(LONG)).isTrue();
		this.workers.start("worker", this.steps::incrementAndGet, (failure) -> this.failures.incrementAndGet());
		assertThat(this.workers.isStopped()).isTrue();
		assertThat(this.steps).hasValue(0);
	}

	private static void awaitEnd(CountDownLatch latch) {
		try {
			latch.await();
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

}
