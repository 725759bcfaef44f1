package dev.idempotent.autoconfigure.idempotency;

import java.time.Duration;

import dev.idempotent.IdempotentConfigurationException;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * What holds for keys in Redis.
 *
 * @param keyPrefix What the names of all Redis keys begin with.
 * @param timeout How long to wait for a connection and for each reply. Has its effect
 * with Lettuce; other clients keep the time-out of the application.
 * @param waitReplicas How many replicas must confirm a claim before its request runs, and
 * an answer before it counts as stored. Needs Lettuce and a standalone or Sentinel setup.
 * @param waitTimeout How long replicas may take to confirm. A claim that they do not
 * confirm in time is given back and answered 503; an answer is sent, and stored again in
 * the background.
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
					"Let idempotent.redis.wait-timeout leave room for the way to Redis and back.", null);
		}
	}

	boolean waitsForReplicas() {
		return this.waitReplicas > 0;
	}

}
