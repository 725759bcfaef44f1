package dev.idempotent.idempotency.redis;

import java.util.Properties;
import java.util.Set;
import java.util.stream.Collectors;

import org.springframework.data.redis.connection.RedisConnection;

/**
 * The policies by which servers evict keys when their memory is full.
 */
final class EvictionPolicies {

	private static final String NO_EVICTION = "noeviction";

	private EvictionPolicies() {
	}

	/**
	 * Reads them by INFO, which managed servers allow even where they forbid CONFIG.
	 * @return the policies other than {@code noeviction}
	 */
	static Set<String> of(RedisConnection connection) {
		Properties memory = connection.serverCommands().info("memory");
		return (memory == null) ? Set.of() : memory.stringPropertyNames()
			.stream()
			// In a Cluster, each name is prefixed with its node.
			.filter((name) -> name.endsWith("maxmemory_policy"))
			.map(memory::getProperty)
			.filter((policy) -> !policy.equals(NO_EVICTION))
			.collect(Collectors.toUnmodifiableSet());
	}

}
