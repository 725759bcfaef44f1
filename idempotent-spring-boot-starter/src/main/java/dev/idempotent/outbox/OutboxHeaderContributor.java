package dev.idempotent.outbox;

import java.util.function.BiConsumer;

/**
 * Adds headers to each event at its append, on the appending thread. Any bean of this
 * type takes part.
 */
@FunctionalInterface
public interface OutboxHeaderContributor {

	/**
	 * Adds headers. Those that an event states itself win.
	 * @param headers takes name, in lower case, and value
	 */
	void contribute(BiConsumer<String, String> headers);

}
