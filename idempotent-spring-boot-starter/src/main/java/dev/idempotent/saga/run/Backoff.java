package dev.idempotent.saga.run;

import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;

/**
 * The time until another attempt: 100 ms, doubled with each attempt up to 1 minute, and
 * shortened at random by up to a half.
 */
final class Backoff {

	private static final long FIRST_MILLIS = 100;

	private static final long LONGEST_MILLIS = 60_000;

	private static final int MOST_DOUBLINGS = 10;

	private Backoff() {
	}

	static Duration after(int attempts) {
		long millis = Math.min(LONGEST_MILLIS, FIRST_MILLIS << Math.min(attempts, MOST_DOUBLINGS));
		return Duration.ofMillis(millis - ThreadLocalRandom.current().nextLong(millis / 2 + 1));
	}

}
