package dev.idempotent.autoconfigure.operations;

import java.time.Duration;

import dev.idempotent.IdempotentConfigurationException;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;

/**
 * Properties of the idempotency health indicator.
 *
 * @param maxUnsettledAge Age of the oldest key that this instance has claimed and not yet
 * completed or released, from which the health indicator reports DOWN. Defaults to half
 * of idempotent.max-run.
 */
@ConfigurationProperties("idempotent.health")
record IdempotencyHealthProperties(@Nullable Duration maxUnsettledAge) {

	IdempotencyHealthProperties {
		if (maxUnsettledAge != null && maxUnsettledAge.toMillis() < 1) {
			throw new IdempotentConfigurationException(
					"idempotent.health.max-unsettled-age is " + maxUnsettledAge + ".",
					"Set it to a duration of at least 1 ms, such as 15m, or omit it.", null);
		}
	}

	/**
	 * Returns the age, by default one that leaves time to act before the lease is lost.
	 */
	Duration orHalfOf(Duration maxRun) {
		return (this.maxUnsettledAge != null) ? this.maxUnsettledAge : maxRun.dividedBy(2);
	}

}
