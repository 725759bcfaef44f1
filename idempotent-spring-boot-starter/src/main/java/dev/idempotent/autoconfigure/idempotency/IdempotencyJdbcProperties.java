package dev.idempotent.autoconfigure.idempotency;

import java.time.Duration;

import dev.idempotent.IdempotentConfigurationException;
import dev.idempotent.jdbc.Database;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.boot.sql.init.DatabaseInitializationMode;

/**
 * How the database keeps idempotency keys.
 *
 * @param initializeSchema Whether to create the table when the application starts.
 * @param table Name of the table, in its schema if need be.
 * @param lockTimeout How long a claim waits for another transaction that has its key and
 * has not ended. MySQL and MariaDB wait whole seconds.
 * @param maxWaiters How many claims may hold a connection for that wait while nothing
 * else keeps duplicates away, as always with idempotent.store=jdbc. Defaults to a quarter
 * of the pool.
 * @param sweepInterval How often expired keys are deleted.
 * @param transactionManager Name of the transaction manager for operations under
 * Guarantee.TRANSACTION that name none. Defaults to the only or primary one.
 */
@ConfigurationProperties("idempotent.jdbc")
record IdempotencyJdbcProperties(@DefaultValue("embedded") DatabaseInitializationMode initializeSchema,
		@DefaultValue(IdempotencyJdbcProperties.DEFAULT_TABLE) String table,
		@DefaultValue("200ms") Duration lockTimeout, @Nullable Integer maxWaiters,
		@DefaultValue("1m") Duration sweepInterval, @Nullable String transactionManager) {

	static final String DEFAULT_TABLE = "idempotency_record";

	IdempotencyJdbcProperties {
		IdempotencyProperties.requireDuration("idempotent.jdbc.lock-timeout", lockTimeout);
		IdempotencyProperties.requireDuration("idempotent.jdbc.sweep-interval", sweepInterval);
		if (maxWaiters != null && maxWaiters < 1) {
			throw new IdempotentConfigurationException("idempotent.jdbc.max-waiters is %d.".formatted(maxWaiters),
					"Set it to the number of connections that may wait, at least 1, or leave it out.", null);
		}
		if (!Database.isTableName(table)) {
			throw new IdempotentConfigurationException("idempotent.jdbc.table is no name of a table.",
					"Set it to a name of letters, digits and underscores, with a schema if need be.", null);
		}
	}

}
