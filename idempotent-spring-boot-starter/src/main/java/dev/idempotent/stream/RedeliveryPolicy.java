package dev.idempotent.stream;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

/**
 * Knows failures that are not the entry's fault, such as a database that is away, and
 * those that no further delivery can mend. A bean of this type adds to those that are
 * known.
 */
@FunctionalInterface
public interface RedeliveryPolicy {

	/**
	 * Looks at what a listener has thrown.
	 * @param failure the exception
	 * @return when to bring the entry again, without counting this delivery; {@code null}
	 * if the failure is none of those that it knows
	 */
	@Nullable Duration after(Throwable failure);

	/**
	 * Whether each further delivery would fail in the same way, so that the entry goes to
	 * the dead at once.
	 * @param failure the exception
	 * @return {@code false} by default
	 */
	default boolean isHopeless(Throwable failure) {
		return false;
	}

}
