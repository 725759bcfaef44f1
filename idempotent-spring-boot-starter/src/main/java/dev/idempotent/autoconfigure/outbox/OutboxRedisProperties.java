package dev.idempotent.autoconfigure.outbox;

import java.time.Duration;

import dev.idempotent.autoconfigure.Durations;
import dev.idempotent.IdempotentConfigurationException;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * What holds for events that go to Redis Streams.
 *
 * @param timeout How long to wait for a connection and for the replies to a batch. Has
 * its effect with Lettuce; other clients keep the time-out of the application.
 * @param maxLength About how many entries a stream keeps. The oldest are dropped whether
 * or not every consumer group has read them. Keeps all by default.
 * @param waitReplicas How many replicas must confirm a batch before its events count as
 * delivered. Needs Lettuce and a standalone or Sentinel setup.
 * @param waitTimeout How long replicas may take to confirm. Events that they do not
 * confirm in time are sent again.
 */
@ConfigurationProperties("idempotent.outbox.redis")
record OutboxRedisProperties(@DefaultValue("5s") Duration timeout, @Nullable Long maxLength,
		@DefaultValue("0") int waitReplicas, @DefaultValue("1s") Duration waitTimeout) {

	OutboxRedisProperties {
		Durations.require("idempotent.outbox.redis.timeout", timeout);
		Durations.require("idempotent.outbox.redis.wait-timeout", waitTimeout);
		if (maxLength != null && maxLength < 1) {
			throw new IdempotentConfigurationException("idempotent.outbox.redis.max-length is %d.".formatted(maxLength),
					"Set it to the number of entries that a stream keeps at least, or leave it out to keep all.", null);
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
					"Let idempotent.outbox.redis.wait-timeout leave room for the way to Redis and back.", null);
		}
	}

}
