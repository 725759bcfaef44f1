package dev.idempotent.autoconfigure.outbox;

import java.time.Duration;

import dev.idempotent.idempotency.IdempotencyConfigurationException;
import dev.idempotent.inbox.InboxSettings;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * What holds for all listeners of Redis Streams.
 *
 * @param enabled Whether the @RedisStreamListener annotation has an effect.
 * @param claimIdle After which time an entry that nobody works on is taken over by
 * another instance, and the longest time between two attempts at an entry.
 * @param maxDeliveries How often an entry is brought to a listener that fails before it
 * goes to the stream of the dead.
 */
@ConfigurationProperties("idempotent.inbox")
record InboxProperties(@DefaultValue("true") boolean enabled, @DefaultValue("30s") Duration claimIdle,
		@DefaultValue("20") int maxDeliveries) {

	InboxProperties {
		Durations.require("idempotent.inbox.claim-idle", claimIdle);
		if (maxDeliveries < 1) {
			throw new IdempotencyConfigurationException(
					"idempotent.inbox.max-deliveries is %d.".formatted(maxDeliveries),
					"Set it to the number of attempts at an entry, at least 1.", null);
		}
	}

	InboxSettings settings() {
		return new InboxSettings(this.claimIdle, this.maxDeliveries);
	}

}
