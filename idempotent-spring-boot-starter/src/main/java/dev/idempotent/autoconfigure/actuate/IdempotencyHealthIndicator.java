package dev.idempotent.autoconfigure.actuate;

import java.time.Duration;
import java.util.Set;
import java.util.function.Supplier;

import dev.idempotent.autoconfigure.Durations;
import dev.idempotent.autoconfigure.idempotency.IdempotencyAutoConfiguration.KeySettings;
import dev.idempotent.idempotency.IdempotencyStoreException;
import dev.idempotent.idempotency.IdempotencyStoreUnavailableException;
import dev.idempotent.idempotency.engine.IdempotencyEngine;
import dev.idempotent.idempotency.engine.KeyAdministration;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.boot.health.contributor.Status;

/**
 * Reports DOWN if no request with a key can be served, or if a run of this instance
 * hangs.
 */
final class IdempotencyHealthIndicator implements HealthIndicator {

	private static final Logger logger = LoggerFactory.getLogger(IdempotencyHealthIndicator.class);

	private final IdempotencyEngine engine;

	private final KeyAdministration keys;

	private final KeySettings settings;

	private final Duration maxUnsettledAge;

	private final Supplier<Set<String>> eviction;

	/**
	 * Creates the indicator.
	 * @param maxUnsettledAge the age of the oldest key that was neither completed nor
	 * released, from which the instance is down
	 * @param eviction reads by which policies the store evicts keys; empty if it does not
	 */
	IdempotencyHealthIndicator(IdempotencyEngine engine, KeyAdministration keys, KeySettings settings,
			Duration maxUnsettledAge, Supplier<Set<String>> eviction) {
		this.engine = engine;
		this.keys = keys;
		this.settings = settings;
		this.maxUnsettledAge = maxUnsettledAge;
		this.eviction = eviction;
	}

	@Override
	public Health health() {
		Health.Builder health = Health.up().withDetail("store", this.engine.storeName());
		boolean databaseDecides = checkDatabases(health);
		checkStore(health, databaseDecides);
		checkAge(health, databaseDecides || this.settings.proceedsWithoutStore());
		return health.build();
	}

	/**
	 * Returns whether databases decide on keys and respond.
	 */
	private boolean checkDatabases(Health.Builder health) {
		try {
			return this.keys.checkDatabases() > 0;
		}
		catch (IdempotencyStoreException ex) {
			logger.debug("The idempotency health indicator could not read the database", ex);
			health.down().withDetail("database", describe(ex));
			return false;
		}
	}

	private void checkStore(Health.Builder health, boolean databaseDecides) {
		try {
			this.keys.checkStore();
			checkEviction(health);
		}
		catch (UnsupportedOperationException ex) {
			health.status(Status.UNKNOWN).withDetail("effect", "The store cannot be checked: " + ex.getMessage());
		}
		catch (IdempotencyStoreUnavailableException ex) {
			logger.debug("The idempotency health indicator could not read the store", ex);
			health.withDetail("problem", "The store " + describe(ex));
			describeOutage(health, databaseDecides);
		}
		catch (IdempotencyStoreException ex) {
			health.down().withDetail("problem", "The store " + describe(ex));
		}
	}

	private void describeOutage(Health.Builder health, boolean databaseDecides) {
		if (databaseDecides) {
			health.withDetail("effect",
					"The database serves operations under Guarantee.TRANSACTION alone; those under Guarantee.LEASE "
							+ (this.settings.proceedsWithoutStore() ? "run unprotected" : "get 503"));
		}
		else if (this.settings.proceedsWithoutStore()) {
			health.withDetail("effect", "Requests run unprotected (idempotent.on-store-failure=proceed)");
		}
		else {
			health.down().withDetail("effect", "Requests with a key get 503 (idempotent.on-store-failure=reject)");
		}
	}

	private void checkEviction(Health.Builder health) {
		try {
			Set<String> policies = this.eviction.get();
			if (!policies.isEmpty()) {
				health.withDetail("warning", "Redis may evict keys when its memory is full (maxmemory-policy "
						+ String.join(", ", policies) + "), so that a retry would run again; use noeviction");
			}
		}
		catch (RuntimeException ex) {
			logger.debug("The idempotency health indicator could not read the eviction policy", ex);
			health.withDetail("warning", "The maxmemory-policy of Redis could not be read; it must be noeviction");
		}
	}

	/**
	 * Keys that wait for the store do not count if requests are served without it:
	 * otherwise an outage would take all instances out of service when it lasts.
	 */
	private void checkAge(Health.Builder health, boolean servesWithoutStore) {
		health.withDetail("oldestUnsettledAge", this.engine.oldestUnsettled().toString())
			.withDetail("maxUnsettledAge", this.maxUnsettledAge.toString());
		Duration age = servesWithoutStore ? this.engine.oldestRun() : this.engine.oldestUnsettled();
		if (age.compareTo(this.maxUnsettledAge) > 0) {
			health.down();
		}
	}

	/**
	 * The message may name a host or a user.
	 */
	private static String describe(IdempotencyStoreException ex) {
		Throwable cause = (ex.getCause() != null) ? ex.getCause() : ex;
		return ((ex instanceof IdempotencyStoreUnavailableException) ? "did not respond: " : "cannot be used: ")
				+ cause.getClass().getSimpleName();
	}

	/**
	 * Properties of the idempotency health indicator.
	 *
	 * @param maxUnsettledAge Age of the oldest key that this instance has claimed and not
	 * yet completed or released, from which the health indicator reports DOWN. Defaults
	 * to half of idempotent.max-run.
	 */
	@ConfigurationProperties("idempotent.health")
	record Properties(@Nullable Duration maxUnsettledAge) {

		Properties {
			if (maxUnsettledAge != null) {
				Durations.requirePositive("idempotent.health.max-unsettled-age", maxUnsettledAge, "15m");
			}
		}

		/**
		 * Returns the age, by default one that leaves time to act before the lease is
		 * lost.
		 */
		Duration orHalfOf(Duration maxRun) {
			return (this.maxUnsettledAge != null) ? this.maxUnsettledAge : maxRun.dividedBy(2);
		}

	}

}
