package dev.idempotent.autoconfigure.idempotency;

import java.time.Duration;

import dev.idempotent.IdempotentConfigurationException;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.util.unit.DataSize;

/**
 * Replays from memory.
 *
 * @param maxSize Memory for completed keys and their responses, so that a retry need not
 * ask the store. Needs Caffeine. Off when zero.
 * @param ttl How long a key stays in memory at most, and so for how long it may be
 * replayed here after the store has lost it.
 */
@ConfigurationProperties("idempotent.replay-cache")
record ReplayCacheProperties(@DefaultValue("0B") DataSize maxSize, @DefaultValue("60s") Duration ttl) {

	ReplayCacheProperties {
		IdempotencyProperties.requireDuration("idempotent.replay-cache.ttl", ttl);
		if (maxSize.isNegative()) {
			throw new IdempotentConfigurationException("idempotent.replay-cache.max-size is %s.".formatted(maxSize),
					"Set it to the memory for the cache, such as 16MB, or leave it out.", null);
		}
	}

	boolean isOn() {
		return this.maxSize.toBytes() > 0;
	}

}
