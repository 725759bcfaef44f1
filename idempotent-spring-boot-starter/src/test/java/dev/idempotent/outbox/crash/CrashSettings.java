package dev.idempotent.outbox.crash;

import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;

import org.springframework.boot.convert.DurationStyle;

/**
 * The system properties of a crash run.
 *
 * @param duration how long events are appended while faults happen
 * @param kafka whether the broker is Kafka, or Redis
 * @param seed of the faults
 * @param control whether events are inserted before the lock that orders them
 */
record CrashSettings(Duration duration, boolean kafka, long seed, boolean control) {

	static CrashSettings read() {
		return new CrashSettings(DurationStyle.detectAndParse(System.getProperty("order.crash.duration", "15s")),
				System.getProperty("order.crash.broker", "redis").equals("kafka"),
				Long.getLong("order.crash.seed", ThreadLocalRandom.current().nextInt(1_000_000)),
				Boolean.getBoolean("order.crash.control"));
	}

}
