package dev.idempotent.autoconfigure.actuate;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Tests for {@link RecentSummary}.
 */
class RecentSummaryTests {

	private final AtomicInteger reads = new AtomicInteger();

	@Test
	void isReadOnceForSeveralGauges() {
		RecentSummary<String> recent = recent(() -> "summary", Duration.ofHours(1));
		assertThat(recent.get()).isEqualTo("summary");
		assertThat(recent.get()).isEqualTo("summary");
		assertThat(this.reads).hasValue(1);
	}

	@Test
	void isReadAgainWhenItIsTooOld() {
		RecentSummary<String> recent = recent(() -> "summary", Duration.ofMillis(5));
		await().until(() -> {
			recent.get();
			return this.reads.get() >= 3;
		});
	}

	@Test
	void isMissingWhileItCannotBeReadAndIsNotReadEachTime() {
		RecentSummary<String> recent = recent(() -> {
			throw new IllegalStateException("away");
		}, Duration.ofHours(1));
		assertThat(recent.get()).isNull();
		assertThat(recent.get()).isNull();
		assertThat(this.reads).hasValue(1);
	}

	private RecentSummary<String> recent(Supplier<String> source, Duration maxAge) {
		return new RecentSummary<>(() -> {
			this.reads.incrementAndGet();
			return source.get();
		}, maxAge);
	}

}
