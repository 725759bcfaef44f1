package dev.idempotent.autoconfigure.outbox;

import java.time.Duration;
import java.util.Objects;

import dev.idempotent.IdempotentConfigurationException;
import dev.idempotent.jdbc.Database;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.boot.sql.init.DatabaseInitializationMode;

/**
 * The transactional outbox.
 *
 * @param enabled Whether events can be appended.
 * @param defaultTopic Where events go that name no topic, such as redis-stream:events.
 * @param source Where events come from, a URI reference: the source of the CloudEvents.
 * Defaults to a slash and the application's name.
 * @param initializeSchema Whether to create the tables when the application starts.
 * @param tablePrefix What the names of the tables begin with, in their schema if need be.
 * @param deadRetention How long events that were given up are kept. Without it, until
 * somebody discards them.
 */
@ConfigurationProperties("idempotent.outbox")
record OutboxProperties(@DefaultValue("true") boolean enabled, @Nullable String defaultTopic, @Nullable String source,
		@DefaultValue("embedded") DatabaseInitializationMode initializeSchema,
		@DefaultValue(OutboxProperties.DEFAULT_TABLE_PREFIX) String tablePrefix, @Nullable Duration deadRetention) {

	static final String DEFAULT_TABLE_PREFIX = "outbox_";

	OutboxProperties {
		if (!Database.isTableName(tablePrefix)) {
			throw new IdempotentConfigurationException("idempotent.outbox.table-prefix is not a valid table prefix.",
					"Set it to letters, digits and underscores, with a schema if need be.", null);
		}
		if (deadRetention != null && deadRetention.toMillis() < 1) {
			throw new IdempotentConfigurationException("idempotent.outbox.dead-retention is " + deadRetention + ".",
					"Set it to a duration of at least one millisecond, such as 30d, or leave it out.", null);
		}
	}

	Duration requireDeadRetention() {
		return Objects.requireNonNull(this.deadRetention, "idempotent.outbox.dead-retention");
	}

}
