package dev.idempotent.autoconfigure.outbox;

import java.time.Duration;

import dev.idempotent.autoconfigure.Durations;
import dev.idempotent.IdempotentConfigurationException;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Properties of the publishers to Redis.
 *
 * @param timeout How long to wait for a connection and for the replies to a batch.
 * Applies to Lettuce; other clients use the application's timeout.
 * @param maxLength Approximate number of entries that a stream keeps. Older entries are
 * removed even if a consumer group has not read them. Defaults to keeping all.
 * @param waitReplicas How many replicas must confirm a batch of stream entries before its
 * events count as delivered. Needs Lettuce and a standalone or Sentinel Redis.
 * @param waitTimeout How long to wait for the replicas. Events that are not confirmed in
 * time are sent again.
 */
@ConfigurationProperties("idempotent.outbox.redis")
record OutboxRedisProperties(@DefaultValue("5s") Duration timeout, @Nullable Long maxLength,
		@DefaultValue("0") int waitReplicas, @DefaultValue("1s") Duration waitTimeout) {

	OutboxRedisProperties {
		Durations.require("idempotent.outbox.redis.timeout", timeout);
		Durations.require("idempotent.outbox.redis.wait-timeout", waitTimeout);
		if (maxLength != null && maxLength < 1) {
			throw new IdempotentConfigurationException("idempotent.outbox.redis.max-length is %d.".formatted(maxLength),
					"Set it to the minimum number of entries that a stream keeps, or omit it to keep all.", null);
		}
		if (waitReplicas < 0) {
			throw new IdempotentConfigurationException(
					"idempotent.outbox.redis.wait-replicas is %d.".formatted(waitReplicas),
					"Set it to the number of replicas that must confirm a batch, or to 0 to wait for none.", null);
		}
		if (waitReplicas > 0 && waitTimeout.compareTo(timeout) >= 0) {
			throw new IdempotentConfigurationException(
					"idempotent.outbox.redis.wait-timeout (%s) is not shorter than idempotent.outbox.redis.timeout (%s)."
						.formatted(waitTimeout, timeout),
					"Set idempotent.outbox.redis.wait-timeout to a shorter duration than idempotent.outbox.redis.timeout.",
					null);
		}
	}

}
