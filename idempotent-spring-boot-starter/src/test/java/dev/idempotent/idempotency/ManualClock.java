package dev.idempotent.idempotency;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.concurrent.atomic.AtomicReference;

/**
 * A clock that only moves when it is advanced.
 */
public final class ManualClock implements InstantSource {

	private final AtomicReference<Instant> now = new AtomicReference<>(Instant.EPOCH);

	@Override
	public Instant instant() {
		return this.now.get();
	}

	public void advance(Duration time) {
		this.now.updateAndGet((instant) -> instant.plus(time));
	}

}
