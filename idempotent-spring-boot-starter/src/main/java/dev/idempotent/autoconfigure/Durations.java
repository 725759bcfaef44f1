package dev.idempotent.autoconfigure;

import java.time.Duration;

import dev.idempotent.IdempotentConfigurationException;

/**
 * Validates durations in properties.
 */
public final class Durations {

	private static final Duration LONGEST = Duration.ofDays(1);

	private Durations() {
	}

	/**
	 * Requires a duration from 1 ms to one day.
	 * @param property the full name of the property
	 * @param value its value
	 * @throws IdempotentConfigurationException if it is shorter or longer
	 */
	public static void require(String property, Duration value) {
		require(property, value, LONGEST);
	}

	/**
	 * Requires a duration of at least 1 ms.
	 * @param property the full name of the property
	 * @param value its value
	 * @param longest the longest one
	 * @throws IdempotentConfigurationException if it is shorter or longer
	 */
	public static void require(String property, Duration value, Duration longest) {
		if (value.compareTo(Duration.ofMillis(1)) < 0) {
			throw new IdempotentConfigurationException(
					"%s is %s, but must be at least 1 ms.".formatted(property, value),
					"Set %s to a duration of at least 1 ms, such as 30s.".formatted(property));
		}
		if (value.compareTo(longest) > 0) {
			String text = longest.equals(LONGEST) ? "24h" : longest.toDays() + "d";
			throw new IdempotentConfigurationException(
					"%s is %s, but must be at most %s.".formatted(property, value, text),
					"Set %s to a duration of at most %s.".formatted(property, text));
		}
	}

}
