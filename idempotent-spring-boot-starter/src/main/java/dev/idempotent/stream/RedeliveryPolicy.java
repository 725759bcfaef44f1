package dev.idempotent.stream;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

/**
 * Classifies listener failures that are not the entry's fault, such as an unavailable
 * database, and those that redelivery cannot fix. Beans of this type are consulted before
 * the built-in policy.
 */
@FunctionalInterface
public interface RedeliveryPolicy {

	/**
	 * Returns the delay after which to deliver an entry again without counting the failed
	 * delivery.
	 * @param failure the exception that the listener threw
	 * @return the delay, or {@code null} if this policy does not apply
	 */
	@Nullable Duration redeliveryDelay(Throwable failure);

	/**
	 * Returns whether every further delivery would fail in the same way, so that the
	 * entry is moved to the dead-letter stream at once.
	 * @param failure the exception that the listener threw
	 * @return {@code false} by default
	 */
	default boolean isFatal(Throwable failure) {
		return false;
	}

}
