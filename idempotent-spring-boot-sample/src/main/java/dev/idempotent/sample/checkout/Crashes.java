package dev.idempotent.sample.checkout;

import org.jspecify.annotations.Nullable;

/**
 * Crashes this process at a moment of a checkout, if the process was started for that.
 */
@FunctionalInterface
public interface Crashes {

	/**
	 * A checkout has reached a moment.
	 * @param moment the moment
	 * @param chosen the moment at which the process crashes, or {@code null} if it does
	 * not
	 */
	void reached(Moment moment, @Nullable Moment chosen);

}
