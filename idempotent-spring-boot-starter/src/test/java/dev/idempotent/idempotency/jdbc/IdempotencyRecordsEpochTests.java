package dev.idempotent.idempotency.jdbc;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for the epoch of the database that {@link IdempotencyRecords} keep.
 */
class IdempotencyRecordsEpochTests {

	private final IdempotencyRecords epoch = new IdempotencyRecords("idempotency_key");

	private final long now = System.nanoTime();

	@Test
	void isUnknownAtFirst() {
		assertThat(this.epoch.isCurrent("1")).isFalse();
	}

	@Test
	void isTheOneThatTheLatestStatementHasReturned() {
		// Sent in time, even if this test pauses.
		long later = this.now + IdempotencyRecords.TRUSTED.multipliedBy(10).toNanos();
		this.epoch.heard("2", later);
		this.epoch.heard("1", this.now);
		assertThat(this.epoch.isCurrent("2")).isTrue();
		assertThat(this.epoch.isCurrent("1")).isFalse();
		this.epoch.heard("3", later + 1);
		assertThat(this.epoch.isCurrent("2")).isFalse();
		assertThat(this.epoch.isCurrent("3")).isTrue();
	}

	@Test
	void isForgottenAfterSomeSeconds() {
		this.epoch.heard("1", this.now - IdempotencyRecords.TRUSTED.toNanos());
		assertThat(this.epoch.isCurrent("1")).isFalse();
	}

}
