package dev.idempotent.idempotency.redis;

import java.util.Properties;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.data.redis.connection.RedisConnection;

/**
 * What the server does when its memory is full. Asked by INFO, which servers in the cloud
 * answer where they refuse CONFIG.
 */
final class EvictionPolicy {

	private static final Logger logger = LoggerFactory.getLogger(EvictionPolicy.class);

	private static final String HARMLESS = "noeviction";

	private EvictionPolicy() {
	}

	/**
	 * Warns if keys may be evicted.
	 * @throws RuntimeException if the server does not answer, or may not
	 */
	static void warnIfKeysAreEvicted(RedisConnection connection) {
		Properties memory = connection.serverCommands().info("memory");
		if (memory != null) {
			memory.stringPropertyNames()
				.stream()
				// In a Cluster each name begins with its node.
				.filter((name) -> name.endsWith("maxmemory_policy"))
				.map(memory::getProperty)
				.filter((policy) -> !policy.equals(HARMLESS))
				.distinct()
				.forEach(EvictionPolicy::warn);
		}
	}

	private static void warn(String policy) {
		logger.warn("Redis may drop idempotency keys when its memory is full (maxmemory-policy {}), and a retry "
				+ "would run again; set maxmemory-policy noeviction, or use a Redis that has it", policy);
	}

}
