package dev.idempotent.autoconfigure.idempotency;

import java.time.Duration;

import dev.idempotent.IdempotentConfigurationException;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.util.unit.DataSize;

/**
 * Properties of the replay cache.
 *
 * @param maxSize Memory for completed keys and their responses, which are then replayed
 * without reading the store. Needs Caffeine. Zero disables the cache.
 * @param ttl How long a key stays in memory at most. For that time it may be replayed
 * after the store has lost it.
 */
@ConfigurationProperties("idempotent.replay-cache")
record ReplayCacheProperties(@DefaultValue("0B") DataSize maxSize, @DefaultValue("60s") Duration ttl) {

	ReplayCacheProperties {
		IdempotencyProperties.requireDuration("idempotent.replay-cache.ttl", ttl);
		if (maxSize.isNegative()) {
			throw new IdempotentConfigurationException("idempotent.replay-cache.max-size is %s.".formatted(maxSize),
					"Set it to the memory for the cache, such as 16MB, or omit it.", null);
		}
	}

	boolean isOn() {
		return this.maxSize.toBytes() > 0;
	}

}
