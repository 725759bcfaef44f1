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
 * @param fault what the instances do wrong
 */
record CrashSettings(Duration duration, boolean kafka, long seed, PlantedFault fault) {

	static CrashSettings read() {
		return new CrashSettings(DurationStyle.detectAndParse(System.getProperty("order.crash.duration", "15s")),
				System.getProperty("order.crash.broker", "redis").equals("kafka"),
				Long.getLong("order.crash.seed", ThreadLocalRandom.current().nextInt(1_000_000)),
				PlantedFault.valueOf(System.getProperty("order.crash.fault", PlantedFault.NONE.name())));
	}

}
