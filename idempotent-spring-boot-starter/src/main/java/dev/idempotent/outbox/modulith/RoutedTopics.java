package dev.idempotent.outbox.modulith;

import java.util.Map;
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

	/**
	 * The publishers of this library, with what they need. Without it, a target for one
	 * of them must not become a destination of another publisher.
	 */
	private static final Map<String, String> OWN = Map.of("kafka", "spring-boot-starter-kafka", "redis-stream",
			"spring-boot-starter-data-redis", "redis-channel", "spring-boot-starter-data-redis");

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
		String prefix = target.substring(0, Math.max(0, target.indexOf(':')));
		if (this.prefixes.contains(prefix)) {
			return target;
		}
		if (OWN.containsKey(prefix)) {
			throw new IllegalArgumentException("The target '" + target + "' begins with " + prefix
					+ ":, and this application has no such publisher: add " + OWN.get(prefix));
		}
		if (this.publisher == null) {
			throw new IllegalArgumentException("The target '" + target + "' names no publisher: begin it with one of "
					+ this.prefixes + " and a colon, or set " + PROPERTY);
		}
		return this.publisher + ':' + target;
	}

}
