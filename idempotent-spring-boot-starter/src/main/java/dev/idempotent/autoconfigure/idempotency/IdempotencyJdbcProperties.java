package dev.idempotent.autoconfigure.idempotency;

import java.time.Duration;

import dev.idempotent.IdempotentConfigurationException;
import dev.idempotent.jdbc.Database;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.boot.sql.init.DatabaseInitializationMode;

/**
 * Properties of the JDBC store.
 *
 * @param initializeSchema When to create the table at startup.
 * @param table Name of the table, optionally with a schema.
 * @param lockTimeout How long a claim waits for an open transaction that holds its key.
 * MySQL and MariaDB wait whole seconds.
 * @param maxWaiters How many claims may hold a connection while they wait, if no other
 * store detects duplicates first, as with idempotent.store=jdbc. Defaults to a quarter of
 * the pool.
 * @param sweepInterval How often expired keys are deleted.
 * @param transactionManager Bean name of the transaction manager for operations under
 * Guarantee.TRANSACTION that specify none. Defaults to the only or primary one.
 */
@ConfigurationProperties("idempotent.jdbc")
public record IdempotencyJdbcProperties(@DefaultValue("embedded") DatabaseInitializationMode initializeSchema,
		@DefaultValue(IdempotencyJdbcProperties.DEFAULT_TABLE) String table,
		@DefaultValue("200ms") Duration lockTimeout, @Nullable Integer maxWaiters,
		@DefaultValue("1m") Duration sweepInterval, @Nullable String transactionManager) {

	static final String DEFAULT_TABLE = "idempotency_record";

	public IdempotencyJdbcProperties {
		IdempotencyProperties.requireDuration("idempotent.jdbc.lock-timeout", lockTimeout);
		IdempotencyProperties.requireDuration("idempotent.jdbc.sweep-interval", sweepInterval);
		if (maxWaiters != null && maxWaiters < 1) {
			throw new IdempotentConfigurationException("idempotent.jdbc.max-waiters is %d.".formatted(maxWaiters),
					"Set it to the number of connections that may wait, at least 1, or omit it.", null);
		}
		if (!Database.isTableName(table)) {
			throw new IdempotentConfigurationException("idempotent.jdbc.table is not a valid table name.",
					"Set it to a name of letters, digits and underscores, optionally with a schema.", null);
		}
	}

}
