package dev.idempotent.token;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;

/**
 * A clock that tests move.
 */
final class MovableClock implements InstantSource {

	private volatile Instant now = Instant.now();

	@Override
	public Instant instant() {
		return this.now;
	}

	void advance(Duration duration) {
		this.now = this.now.plus(duration);
	}

}
