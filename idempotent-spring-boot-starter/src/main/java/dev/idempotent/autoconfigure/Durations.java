package dev.idempotent.autoconfigure;

import java.time.Duration;

import dev.idempotent.IdempotentConfigurationException;

/**
 * Which times are sensible.
 */
public final class Durations {

	private static final Duration LONGEST = Duration.ofDays(1);

	private Durations() {
	}

	public static void require(String property, Duration value) {
		if (value.compareTo(Duration.ofMillis(1)) < 0) {
			throw new IdempotentConfigurationException("%s is %s, which is no time at all.".formatted(property, value),
					"Set %s to a millisecond or more, such as 30s.".formatted(property), null);
		}
		if (value.compareTo(LONGEST) > 0) {
			throw new IdempotentConfigurationException("%s is %s, longer than a day.".formatted(property, value),
					"Set %s to a day (24h) or less.".formatted(property), null);
		}
	}

}
