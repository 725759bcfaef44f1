package dev.idempotent.outbox.relay;

import java.time.Duration;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * When all pending events are searched again.
 */
class FullScanScheduleTests {

	private static final long SECOND = Duration.ofSeconds(1).toNanos();

	private final FullScanSchedule schedule = new FullScanSchedule(Duration.ofSeconds(10));

	@Test
	void beginsWithASearch() {
		assertThat(this.schedule.isDue(Long.MIN_VALUE)).isTrue();
	}

	@Test
	void searchesOncePerInterval() {
		search(0, SECOND, false);
		search(20 * SECOND, SECOND, false);
		assertThat(this.schedule.isDue(30 * SECOND - 1)).isFalse();
		assertThat(this.schedule.isDue(30 * SECOND)).isTrue();
	}

	@Test
	void pausesAHundredTimesTheTimeOfCostlySearches() {
		search(0, SECOND, true);
		search(20 * SECOND, SECOND / 2, true);
		assertThat(this.schedule.isDue(80 * SECOND - 1)).isFalse();
		assertThat(this.schedule.isDue(80 * SECOND)).isTrue();
	}

	@Test
	void doesNotPauseAfterASingleSlowSearch() {
		search(0, 0, true);
		search(10 * SECOND, 60 * SECOND, true);
		assertThat(this.schedule.isDue(20 * SECOND)).isTrue();
	}

	@Test
	void pausesForFiveMinutesAtMost() {
		search(0, 60 * SECOND, true);
		search(60 * SECOND, 60 * SECOND, true);
		assertThat(this.schedule.isDue(370 * SECOND)).isTrue();
	}

	private void search(long begin, long time, boolean costly) {
		this.schedule.searched(begin, begin + time, costly);
	}

}
