package dev.idempotent.autoconfigure.actuate;

import java.time.Duration;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

import dev.idempotent.autoconfigure.Durations;
import dev.idempotent.saga.SagaStatus;
import dev.idempotent.saga.engine.SagaAdministration.Counts;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.dao.DataAccessException;

/**
 * Reports DOWN if a due saga has waited too long for an instance or the database failed,
 * and UNKNOWN, without querying the database, in an application without sagas.
 */
final class SagaHealthIndicator implements HealthIndicator {

	private static final Logger logger = LoggerFactory.getLogger(SagaHealthIndicator.class);

	private final BooleanSupplier used;

	private final Supplier<Counts> counts;

	private final Duration maxDueAge;

	/**
	 * Creates the indicator.
	 * @param used whether the application has sagas
	 * @param counts counts the sagas in the database
	 * @param maxDueAge how long a due saga may wait
	 */
	SagaHealthIndicator(BooleanSupplier used, Supplier<Counts> counts, Duration maxDueAge) {
		this.used = used;
		this.counts = counts;
		this.maxDueAge = maxDueAge;
	}

	@Override
	public Health health() {
		if (!this.used.getAsBoolean()) {
			return Health.unknown().withDetail("saga", "off: the application has no @Saga method").build();
		}
		try {
			return of(this.counts.get());
		}
		catch (DataAccessException ex) {
			logger.debug("The saga health indicator could not read the database", ex);
			return Health.down().withDetail("database", "failed: " + ex.getClass().getSimpleName()).build();
		}
	}

	/**
	 * A halted saga makes no instance unhealthy: it waits for an operator, and the others
	 * continue.
	 */
	private Health of(Counts counts) {
		boolean late = counts.oldestDue().compareTo(this.maxDueAge) > 0;
		int halted = counts.byStatus().getOrDefault(SagaStatus.HALTED, 0);
		Health.Builder health = (late ? Health.down() : Health.up())
			.withDetail("oldestDueAge", counts.oldestDue().toString())
			.withDetail("maxDueAge", this.maxDueAge.toString())
			.withDetail("halted", halted)
			.withDetail("unserved", counts.unserved());
		if (halted > 0) {
			health.withDetail("warning", "Halted sagas need an operator: see the endpoint 'saga'");
		}
		return health.build();
	}

	/**
	 * Properties of the saga health indicator.
	 *
	 * @param maxDueAge How long a due saga may wait for an instance that continues it
	 * before the health indicator reports DOWN.
	 */
	@ConfigurationProperties("idempotent.saga.health")
	record Properties(@DefaultValue("5m") Duration maxDueAge) {

		Properties {
			Durations.requirePositive("idempotent.saga.health.max-due-age", maxDueAge, "5m");
		}

	}

}
