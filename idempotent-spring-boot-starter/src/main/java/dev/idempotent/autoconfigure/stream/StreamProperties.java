package dev.idempotent.autoconfigure.stream;

import java.time.Duration;

import dev.idempotent.IdempotentConfigurationException;
import dev.idempotent.autoconfigure.Durations;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Properties of all Redis stream listeners.
 *
 * @param enabled Whether the @RedisStreamListener annotation has an effect.
 * @param minIdleTime Idle time after which another consumer claims a pending entry, and
 * the longest time between two deliveries of an entry.
 * @param maxDeliveries How often an entry is delivered to a failing listener before it is
 * moved to the dead-letter stream.
 */
@ConfigurationProperties("idempotent.stream")
record StreamProperties(@DefaultValue("true") boolean enabled, @DefaultValue("30s") Duration minIdleTime,
		@DefaultValue("20") int maxDeliveries) {

	StreamProperties {
		Durations.require("idempotent.stream.min-idle-time", minIdleTime);
		if (maxDeliveries < 1) {
			throw new IdempotentConfigurationException(
					"idempotent.stream.max-deliveries is %d.".formatted(maxDeliveries),
					"Set it to the number of attempts at an entry, at least 1.");
		}
	}

}
