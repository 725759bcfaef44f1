package dev.idempotent.autoconfigure.operations;

import java.time.Duration;

import dev.idempotent.IdempotentConfigurationException;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Properties of the outbox health indicator.
 *
 * @param maxAge Age of the oldest pending event from which the health indicator reports
 * DOWN.
 */
@ConfigurationProperties("idempotent.outbox.health")
record OutboxHealthProperties(@DefaultValue("5m") Duration maxAge) {

	OutboxHealthProperties {
		if (maxAge.toMillis() < 1) {
			throw new IdempotentConfigurationException("idempotent.outbox.health.max-age is " + maxAge + ".",
					"Set it to a duration of at least 1 ms, such as 5m, or omit it.", null);
		}
	}

}
