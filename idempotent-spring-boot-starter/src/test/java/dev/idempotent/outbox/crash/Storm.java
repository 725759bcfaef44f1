package dev.idempotent.outbox.crash;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * The time during which events are appended and faults happen.
 */
final class Storm {

	private final Path end;

	private final Random random;

	/**
	 * Creates a storm that lasts until a file exists.
	 */
	Storm(Path end, long seed) {
		this.end = end;
		this.random = new Random(seed);
	}

	boolean lasts() {
		return !Files.exists(this.end);
	}

	/**
	 * A random number from 0 to below a limit.
	 */
	int random(int limit) {
		return this.random.nextInt(limit);
	}

	/**
	 * Returns whether a fault happens now.
	 */
	boolean strikes(int perThousand) {
		return random(1000) < perThousand && lasts();
	}

	/**
	 * Delays the calling thread.
	 */
	void delay(int minMillis, int maxMillis) {
		LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(minMillis + random(maxMillis - minMillis)));
	}

}
