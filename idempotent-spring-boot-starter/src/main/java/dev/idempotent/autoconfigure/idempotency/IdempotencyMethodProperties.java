package dev.idempotent.autoconfigure.idempotency;

import java.time.Duration;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Properties of idempotent methods and of the IdempotencyTemplate.
 *
 * @param waitTimeout How long a duplicate waits for the first run under OnPending.WAIT.
 */
@ConfigurationProperties("idempotent.method")
record IdempotencyMethodProperties(@DefaultValue("10s") Duration waitTimeout) {

	IdempotencyMethodProperties {
		IdempotencyProperties.requireDuration("idempotent.method.wait-timeout", waitTimeout);
	}

}
