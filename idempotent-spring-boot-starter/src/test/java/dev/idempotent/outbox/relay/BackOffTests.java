package dev.idempotent.outbox.relay;

import java.time.Duration;
import java.util.stream.IntStream;
import java.util.stream.LongStream;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link BackOff}.
 */
class BackOffTests {

	private final BackOff backoff = new BackOff(Duration.ofSeconds(1), Duration.ofMinutes(5));

	@Test
	void growsToItsLongest() {
		assertThat(longest(1)).isBetween(900L, 1_000L);
		assertThat(longest(2)).isBetween(1_800L, 2_000L);
		assertThat(longest(5)).isBetween(14_000L, 16_000L);
		assertThat(longest(10)).isBetween(270_000L, 300_000L);
		assertThat(longest(1_000)).isBetween(270_000L, 300_000L);
	}

	@Test
	void spreadsWhatFailedTogether() {
		assertThat(waits(4).map((wait) -> wait / 800).distinct().count()).isEqualTo(10);
	}

	private long longest(int failures) {
		return waits(failures).max().orElseThrow();
	}

	private LongStream waits(int failures) {
		return IntStream.range(0, 1_000).mapToLong((i) -> this.backoff.after(failures).toMillis());
	}

}
