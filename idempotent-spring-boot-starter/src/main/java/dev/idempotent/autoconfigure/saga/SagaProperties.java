package dev.idempotent.autoconfigure.saga;

import java.time.Duration;

import dev.idempotent.IdempotentConfigurationException;
import dev.idempotent.autoconfigure.Durations;
import dev.idempotent.jdbc.Database;
import dev.idempotent.saga.engine.SagaSettings;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.boot.sql.init.DatabaseInitializationMode;

/**
 * Properties of sagas.
 *
 * @param enabled Whether sagas are enabled. Must be true in an application with a @Saga
 * method.
 * @param lease How long a saga is owned without renewal, and so how long it waits after
 * its process has died. It is renewed while the saga runs.
 * @param attempts How often a saga without progress is run again before it is undone, or
 * is halted if it is already being undone.
 * @param workers How many sagas this instance runs in the background at the same time.
 * @param workersPerName How many of the workers sagas of one name may have, so that a
 * service that does not answer leaves workers to other sagas. By default half of them, or
 * all if there is one name.
 * @param stepTimeout How long a call of a step outside a transaction may take. Its thread
 * is then interrupted, its outcome is unknown, and what it returns later counts for
 * nothing.
 * @param waitTimeout How long a caller waits while its saga is repeated. The saga then
 * continues in the background.
 * @param retention How long an ended saga is kept, and its result replayed; and how long
 * a signal is kept that no saga has come for.
 * @param participantRetention How long a call to another service can be repeated with the
 * same key. Must be shorter than each of these services keeps its keys. A saga whose call
 * is older is halted.
 * @param initializeSchema When to create the tables at startup.
 * @param tablePrefix Prefix of the names of the tables, optionally with a schema.
 * @param sweepInterval How often sagas are deleted whose retention has ended.
 */
@ConfigurationProperties("idempotent.saga")
record SagaProperties(@DefaultValue("true") boolean enabled, @DefaultValue("30s") Duration lease,
		@DefaultValue("20") int attempts, @DefaultValue("4") int workers, @Nullable Integer workersPerName,
		@DefaultValue("20s") Duration stepTimeout, @DefaultValue("10s") Duration waitTimeout,
		@DefaultValue("24h") Duration retention, @DefaultValue("12h") Duration participantRetention,
		@DefaultValue("embedded") DatabaseInitializationMode initializeSchema,
		@DefaultValue(SagaProperties.DEFAULT_TABLE_PREFIX) String tablePrefix,
		@DefaultValue("1m") Duration sweepInterval) {

	static final String DEFAULT_TABLE_PREFIX = "saga_";

	private static final String LEASE = "idempotent.saga.lease";

	SagaProperties {
		Durations.require(LEASE, lease);
		Durations.require("idempotent.saga.step-timeout", stepTimeout);
		Durations.require("idempotent.saga.wait-timeout", waitTimeout);
		Durations.require("idempotent.saga.sweep-interval", sweepInterval);
		requirePositive("attempts", attempts);
		requirePositive("workers", workers);
		requirePositive("workers-per-name", (workersPerName != null) ? workersPerName : 1);
		Durations.requireRetention("idempotent.saga.retention", retention, LEASE, lease);
		Durations.requireRetention("idempotent.saga.participant-retention", participantRetention, LEASE, lease);
		if (!Database.isTableName(tablePrefix)) {
			throw new IdempotentConfigurationException("idempotent.saga.table-prefix is not a valid table prefix.",
					"Set it to letters, digits and underscores, optionally with a schema.");
		}
	}

	SagaSettings settings(String process, Duration maxRun) {
		return new SagaSettings(process, this.lease, maxRun, this.attempts, this.workers, this.waitTimeout,
				this.retention, this.participantRetention, this.stepTimeout, this.workersPerName);
	}

	private static void requirePositive(String name, int value) {
		if (value < 1) {
			throw new IdempotentConfigurationException("idempotent.saga.%s is %d.".formatted(name, value),
					"Set it to a number of at least 1, or omit it.");
		}
	}

}
