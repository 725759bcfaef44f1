package dev.idempotent.outbox.jdbc;

import java.time.Duration;
import java.util.List;

import dev.idempotent.outbox.Outcome;
import dev.idempotent.outbox.SerializedEvent;
import org.jspecify.annotations.Nullable;

/**
 * A claimed row.
 *
 * @param event with its row and the attempts of this claim
 * @param undeliverable the outcome of an event that cannot be published as it is stored,
 * or {@code null} if it can
 * @param age the time since the event was appended or became due, by the clock of the
 * database
 * @param counted whether the row has this attempt; {@code false} if it is only locked
 */
public record ClaimedEvent(long lane, SerializedEvent event, @Nullable Outcome undeliverable, Duration age,
		boolean counted) {

	/**
	 * The primary key of the row.
	 * @return lane and id
	 */
	public List<Long> place() {
		return List.of(this.lane, id());
	}

	long id() {
		return this.event.sequence();
	}

	int attempts() {
		return this.event.attempts();
	}

	/**
	 * The attempts that the row has.
	 */
	int storedAttempts() {
		return this.counted ? attempts() : attempts() - 1;
	}

	/**
	 * Rows that a transaction has locked.
	 *
	 * @param claims the events, with the attempt that begins
	 * @param evidence what proves the lock
	 */
	public record LockedRows(List<ClaimedEvent> claims, Object evidence) {
	}

}
