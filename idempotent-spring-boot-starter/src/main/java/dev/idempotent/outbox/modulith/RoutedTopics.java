package dev.idempotent.outbox.modulith;

import java.util.Set;

import dev.idempotent.IdempotentConfigurationException;
import org.jspecify.annotations.Nullable;

/**
 * The topics for the targets of Spring Modulith. A target that begins with the prefix of
 * a publisher is a topic.
 *
 * @param prefixes the prefixes of all publishers
 * @param publisher the prefix for targets without one, or {@code null}
 */
record RoutedTopics(Set<String> prefixes, @Nullable String publisher) {

	private static final String PROPERTY = "idempotent.outbox.modulith.publisher";

	/**
	 * Checks the prefix.
	 * @throws IdempotentConfigurationException if no publisher has it
	 */
	RoutedTopics {
		if (publisher != null && !prefixes.contains(publisher)) {
			throw new IdempotentConfigurationException(
					PROPERTY + " is '" + publisher + "', and no publisher has this prefix.",
					"Set it to one of " + prefixes + ", or add the library that provides the publisher.", null);
		}
	}

	/**
	 * Determines the topic.
	 * @param target the target of an event
	 * @return the topic
	 * @throws IllegalArgumentException if the target names no publisher and there is no
	 * prefix for such targets
	 */
	String of(String target) {
		if (this.prefixes.contains(target.substring(0, Math.max(0, target.indexOf(':'))))) {
			return target;
		}
		if (this.publisher == null) {
			throw new IllegalArgumentException("The target '" + target + "' names no publisher: begin it with one of "
					+ this.prefixes + " and a colon, or set " + PROPERTY);
		}
		return this.publisher + ':' + target;
	}

}
