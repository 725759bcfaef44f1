package dev.idempotent.autoconfigure;

import java.time.Duration;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * What holds for keys in Redis.
 *
 * @param keyPrefix What the names of all Redis keys begin with.
 * @param timeout How long to wait for a connection and for each reply. Has its effect
 * with Lettuce; other clients keep the time-out of the application.
 */
@ConfigurationProperties("idempotent.redis")
record IdempotencyRedisProperties(@DefaultValue("idempotency:") String keyPrefix,
		@DefaultValue("500ms") Duration timeout) {

	IdempotencyRedisProperties {
		IdempotencyProperties.requireDuration("idempotent.redis.timeout", timeout);
	}

}
