package dev.idempotent.autoconfigure.operations;

import java.time.Duration;

import dev.idempotent.IdempotentConfigurationException;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * When the outbox is well.
 *
 * @param maxAge How old the oldest event that awaits its first delivery may become before
 * the health indicator says DOWN.
 */
@ConfigurationProperties("idempotent.outbox.health")
record OutboxHealthProperties(@DefaultValue("5m") Duration maxAge) {

	OutboxHealthProperties {
		if (maxAge.toMillis() < 1) {
			throw new IdempotentConfigurationException("idempotent.outbox.health.max-age is " + maxAge + ".",
					"Set it to a duration of at least one millisecond, such as 5m, or leave it out.", null);
		}
	}

}
