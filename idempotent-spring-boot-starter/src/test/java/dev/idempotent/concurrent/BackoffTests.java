package dev.idempotent.concurrent;

import java.time.Duration;
import java.util.Collections;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link Backoff}.
 */
class BackoffTests {

	private final Backoff backoff = new Backoff(Duration.ofMillis(100), Duration.ofSeconds(5));

	@ParameterizedTest
	@CsvSource({ "1, 100", "2, 200", "6, 3200", "7, 5000", "1000000000000, 5000" })
	void doublesEachWaitUpToTheLongest(long failures, long limit) {
		for (int i = 0; i < 100; i++) {
			assertThat(this.backoff.after(failures)).isBetween(Duration.ofMillis(limit / 2), Duration.ofMillis(limit));
		}
	}

	@Test
	void spreadsThoseThatFailTogether() {
		assertThat(Collections.nCopies(100, 5L).stream().map(this.backoff::after).distinct()).hasSizeGreaterThan(10);
	}

	@Test
	void neverExceedsALongestWaitBelowTheFirst() {
		Backoff small = new Backoff(Duration.ofMinutes(10), Duration.ofMinutes(1));
		for (int i = 1; i <= 100; i++) {
			assertThat(small.after(i)).isBetween(Duration.ofMillis(1), Duration.ofMinutes(1));
		}
		assertThat(new Backoff(Duration.ofMillis(1), Duration.ofMillis(1)).after(3)).isEqualTo(Duration.ofMillis(1));
	}

}
