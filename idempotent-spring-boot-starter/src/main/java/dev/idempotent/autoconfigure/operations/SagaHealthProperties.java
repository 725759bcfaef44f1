package dev.idempotent.autoconfigure.operations;

import java.time.Duration;

import dev.idempotent.IdempotentConfigurationException;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Properties of the saga health indicator.
 *
 * @param maxDueAge How long a due saga may wait for an instance that continues it before
 * the health indicator reports DOWN.
 */
@ConfigurationProperties("idempotent.saga.health")
record SagaHealthProperties(@DefaultValue("5m") Duration maxDueAge) {

	SagaHealthProperties {
		if (maxDueAge.toMillis() < 1) {
			throw new IdempotentConfigurationException("idempotent.saga.health.max-due-age is " + maxDueAge + ".",
					"Set it to a duration of at least 1 ms, such as 5m, or omit it.", null);
		}
	}

}
