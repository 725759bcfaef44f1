package dev.idempotent.autoconfigure.idempotency;

import java.time.Duration;

import dev.idempotent.IdempotentConfigurationException;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Properties of the Redis store.
 *
 * @param keyPrefix Prefix of all Redis keys.
 * @param timeout How long to wait for a connection and for each reply. Applies to
 * Lettuce; other clients use the application's timeout.
 * @param waitReplicas How many replicas must confirm a claim before its request runs, and
 * a response before it counts as stored. Needs Lettuce and a standalone or Sentinel
 * Redis.
 * @param waitTimeout How long to wait for the replicas. A claim that is not confirmed in
 * time is released and the request gets 503; a response is sent, and stored again in the
 * background.
 */
@ConfigurationProperties("idempotent.redis")
record IdempotencyRedisProperties(@DefaultValue("idempotency:") String keyPrefix,
		@DefaultValue("500ms") Duration timeout, @DefaultValue("0") int waitReplicas,
		@DefaultValue("100ms") Duration waitTimeout) {

	IdempotencyRedisProperties {
		IdempotencyProperties.requireDuration("idempotent.redis.timeout", timeout);
		IdempotencyProperties.requireDuration("idempotent.redis.wait-timeout", waitTimeout);
		if (waitReplicas < 0) {
			throw new IdempotentConfigurationException("idempotent.redis.wait-replicas is %d.".formatted(waitReplicas),
					"Set it to the number of replicas that must confirm a key, or to 0 to wait for none.", null);
		}
		if (waitReplicas > 0 && waitTimeout.compareTo(timeout) >= 0) {
			throw new IdempotentConfigurationException(
					"idempotent.redis.wait-timeout (%s) is not shorter than idempotent.redis.timeout (%s)."
						.formatted(waitTimeout, timeout),
					"Set idempotent.redis.wait-timeout to a shorter duration than idempotent.redis.timeout.", null);
		}
	}

	boolean waitsForReplicas() {
		return this.waitReplicas > 0;
	}

}
