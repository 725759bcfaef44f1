package dev.idempotent.sample.checkout;

/**
 * Crashes this process at a moment of a checkout, if the process was started for that.
 */
@FunctionalInterface
public interface Crashes {

	/**
	 * A checkout has reached a moment.
	 * @param moment the moment
	 * @param command the request, which says at which moment its owner crashes
	 */
	void reached(Moment moment, PlaceCheckout command);

}
