package dev.idempotent.stream;

import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Times that double, from half to the whole of each, so that many do not come back at
 * once.
 */
final class BackOff {

	private BackOff() {
	}

	static Duration after(long failures, Duration first, Duration longest) {
		long doubled = first.toMillis() << Math.min(20, Math.max(0, failures - 1));
		long millis = Math.min(doubled, longest.toMillis());
		return Duration.ofMillis(ThreadLocalRandom.current().nextLong(millis / 2, millis + 1));
	}

}
