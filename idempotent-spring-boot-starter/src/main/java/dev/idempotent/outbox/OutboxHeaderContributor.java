package dev.idempotent.outbox;

import java.util.function.BiConsumer;

/**
 * Adds headers to each event when it is appended, on the appending thread. All beans of
 * this type are called.
 */
@FunctionalInterface
public interface OutboxHeaderContributor {

	/**
	 * Adds headers. Headers of the event itself take precedence.
	 * @param headers accepts a name in lower case and a value
	 */
	void contribute(BiConsumer<String, String> headers);

}
