package dev.idempotent.autoconfigure.stream;

import java.time.Duration;

import dev.idempotent.IdempotentConfigurationException;
import dev.idempotent.autoconfigure.Durations;
import dev.idempotent.stream.StreamListenerSettings;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * What holds for all listeners of Redis Streams.
 *
 * @param enabled Whether the @RedisStreamListener annotation has an effect.
 * @param minIdleTime After which time an entry that nobody works on is taken over by
 * another instance, and the longest time between two attempts at an entry.
 * @param maxDeliveries How often an entry is brought to a listener that fails before it
 * goes to the stream of the dead.
 */
@ConfigurationProperties("idempotent.stream")
record StreamProperties(@DefaultValue("true") boolean enabled, @DefaultValue("30s") Duration minIdleTime,
		@DefaultValue("20") int maxDeliveries) {

	StreamProperties {
		Durations.require("idempotent.stream.min-idle-time", minIdleTime);
		if (maxDeliveries < 1) {
			throw new IdempotentConfigurationException(
					"idempotent.stream.max-deliveries is %d.".formatted(maxDeliveries),
					"Set it to the number of attempts at an entry, at least 1.", null);
		}
	}

	StreamListenerSettings settings() {
		return new StreamListenerSettings(this.minIdleTime, this.maxDeliveries);
	}

}
