package dev.idempotent.outbox;

import java.time.Duration;
import java.util.UUID;

/**
 * How events are held.
 *
 * @param claimId names this one claim or hand-off, so that an instance is fenced against
 * others and against itself
 * @param owner names the instance, for operators
 * @param duration how long the events are held
 */
public record EventLease(UUID claimId, String owner, Duration duration) {

	/**
	 * Creates a lease with a claim of its own.
	 * @param owner names the instance
	 * @param duration how long the events are held
	 * @return the lease
	 */
	public static EventLease by(String owner, Duration duration) {
		return new EventLease(UUID.randomUUID(), owner, duration);
	}

}
