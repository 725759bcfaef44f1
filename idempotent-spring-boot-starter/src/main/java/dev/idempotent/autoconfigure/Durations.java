package dev.idempotent.autoconfigure;

import java.time.Duration;

import dev.idempotent.IdempotentConfigurationException;
import dev.idempotent.idempotency.IdempotencyStore;

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
	 * @param property the full name of a property that can be omitted
	 * @param value its value
	 * @param example another value
	 * @throws IdempotentConfigurationException if it is shorter
	 */
	public static void requirePositive(String property, Duration value, String example) {
		if (value.toMillis() < 1) {
			throw new IdempotentConfigurationException(property + " is " + value + ".",
					"Set it to a duration of at least 1 ms, such as " + example + ", or omit it.");
		}
	}

	/**
	 * Requires a retention that a store can keep, and that does not end before a lease.
	 * @param property the full name of the property
	 * @param value its value
	 * @param leaseProperty the full name of the property of the lease
	 * @param lease the lease
	 * @throws IdempotentConfigurationException if it is shorter, or too long
	 */
	public static void requireRetention(String property, Duration value, String leaseProperty, Duration lease) {
		if (value.compareTo(lease) < 0) {
			throw new IdempotentConfigurationException(
					"%s (%s) is shorter than %s (%s).".formatted(property, value, leaseProperty, lease),
					"Set %s to at least %s.".formatted(property, leaseProperty));
		}
		require(property, value, IdempotencyStore.MAX_DURATION);
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
