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

	/**
	 * Reads the settings of a run.
	 * @param run the first part of the names of its properties
	 */
	static CrashSettings read(String run) {
		String prefix = run + ".crash.";
		return new CrashSettings(DurationStyle.detectAndParse(System.getProperty(prefix + "duration", "15s")),
				System.getProperty(prefix + "broker", "redis").equals("kafka"),
				Long.getLong(prefix + "seed", ThreadLocalRandom.current().nextInt(1_000_000)),
				PlantedFault.valueOf(System.getProperty(prefix + "fault", PlantedFault.NONE.name())));
	}

}
