package dev.idempotent.outbox.relay;

import java.time.Duration;
import java.util.stream.IntStream;
import java.util.stream.LongStream;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link Settlement}.
 */
class SettlementTests {

	@Test
	void doublesTheDelayUpToItsMaximum() {
		assertThat(longest(1)).isBetween(900L, 1_000L);
		assertThat(longest(2)).isBetween(1_800L, 2_000L);
		assertThat(longest(5)).isBetween(14_000L, 16_000L);
		assertThat(longest(10)).isBetween(270_000L, 300_000L);
		assertThat(longest(1_000)).isBetween(270_000L, 300_000L);
	}

	@Test
	void spreadsDelaysOfEventsThatFailTogether() {
		assertThat(delays(4).map((delay) -> delay / 800).distinct().count()).isBetween(9L, 10L);
	}

	@Test
	void neverExceedsASmallMaximum() {
		assertThat(IntStream.rangeClosed(1, 100)
			.mapToObj((i) -> Settlement.delay(Duration.ofMinutes(10), Duration.ofMinutes(1), i)))
			.allMatch((delay) -> delay.compareTo(Duration.ofMinutes(1)) <= 0);
		assertThat(Settlement.delay(Duration.ofMillis(1), Duration.ofMillis(1), 3)).isEqualTo(Duration.ofMillis(1));
	}

	private static long longest(int failures) {
		return delays(failures).max().orElseThrow();
	}

	private static LongStream delays(int failures) {
		return IntStream.range(0, 1_000)
			.mapToLong((i) -> Settlement.delay(Duration.ofSeconds(1), Duration.ofMinutes(5), failures).toMillis());
	}

}
