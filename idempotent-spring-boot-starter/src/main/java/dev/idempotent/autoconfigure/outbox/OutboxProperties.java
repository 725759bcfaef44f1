package dev.idempotent.autoconfigure.outbox;

import java.net.URI;
import java.net.URISyntaxException;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;

import dev.idempotent.IdempotentConfigurationException;
import dev.idempotent.jdbc.Database;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.boot.sql.init.DatabaseInitializationMode;
import org.springframework.core.env.Environment;

/**
 * Properties of the transactional outbox.
 *
 * @param enabled Whether the outbox is available. If false, @TransactionalOutbox has no
 * effect.
 * @param defaultTopic Topic of events that name none, such as redis-stream:events.
 * @param order Whether events of the same topic and key are delivered in order.
 * @param source The source of the CloudEvents, a URI reference. Defaults to a slash and
 * the application's name.
 * @param initializeSchema When to create the tables at startup.
 * @param tablePrefix Prefix of the names of the tables, optionally with a schema.
 * @param deadRetention How long dead events are kept. Defaults to keeping them until an
 * operator discards them.
 * @param onDead What happens to later events of a key when one has no next attempt.
 * @param topics Properties of topics, by name. The name must be in brackets, such as
 * idempotent.outbox.topics.[kafka:orders].on-dead.
 */
@ConfigurationProperties("idempotent.outbox")
record OutboxProperties(@DefaultValue("true") boolean enabled, @Nullable String defaultTopic,
		@DefaultValue("key") Order order, @Nullable String source,
		@DefaultValue("embedded") DatabaseInitializationMode initializeSchema,
		@DefaultValue(OutboxProperties.DEFAULT_TABLE_PREFIX) String tablePrefix, @Nullable Duration deadRetention,
		@DefaultValue("skip") OnDead onDead, @DefaultValue Map<String, Map<String, String>> topics) {

	static final String DEFAULT_TABLE_PREFIX = "outbox_";

	OutboxProperties {
		topics.forEach(OutboxProperties::onDead);
		if (!Database.isTableName(tablePrefix)) {
			throw new IdempotentConfigurationException("idempotent.outbox.table-prefix is not a valid table prefix.",
					"Set it to letters, digits and underscores, optionally with a schema.", null);
		}
		if (source != null && !isUriReference(source)) {
			throw new IdempotentConfigurationException("idempotent.outbox.source is not a URI reference.",
					"Set it to a URI or a path, such as /shop, or omit it.", null);
		}
		if (deadRetention != null && deadRetention.toMillis() < 1) {
			throw new IdempotentConfigurationException("idempotent.outbox.dead-retention is " + deadRetention + ".",
					"Set it to a duration of at least 1 ms, such as 30d, or omit it.", null);
		}
	}

	private static boolean isUriReference(String source) {
		try {
			return !new URI(source).toString().isEmpty();
		}
		catch (URISyntaxException ex) {
			return false;
		}
	}

	/**
	 * Whether an ordered event without a next attempt blocks its key.
	 */
	boolean blocksOnDead(String topic) {
		Map<String, String> stated = this.topics.get(topic);
		return ((stated != null) ? onDead(topic, stated) : this.onDead) == OnDead.BLOCK;
	}

	/**
	 * Reads the properties of one topic, of which the binder knows no names.
	 */
	private static OnDead onDead(String topic, Map<String, String> stated) {
		String name = "idempotent.outbox.topics.[" + topic + "]";
		if (stated.size() != 1 || !stated.keySet().iterator().next().replaceAll("\\W", "").equalsIgnoreCase("onDead")) {
			throw new IdempotentConfigurationException(name + " has unknown properties.",
					"Set " + name + ".on-dead only.", null);
		}
		String value = stated.values().iterator().next();
		return Stream.of(OnDead.values())
			.filter((each) -> each.name().equalsIgnoreCase(value))
			.findFirst()
			.orElseThrow(() -> new IdempotentConfigurationException(name + ".on-dead is neither skip nor block.",
					"Set it to one of them, or remove it.", null));
	}

	/**
	 * What happens to later events of a key when one has no next attempt.
	 */
	enum OnDead {

		/**
		 * They are delivered without it.
		 */
		SKIP,

		/**
		 * They wait until an operator decides on it.
		 */
		BLOCK

	}

	/**
	 * What orders events.
	 */
	enum Order {

		/**
		 * The key of an event orders it.
		 */
		KEY,

		/**
		 * Nothing orders new events.
		 */
		NONE

	}

	/**
	 * Returns the default topic. The binding of properties keeps unknown placeholders.
	 */
	@Nullable String defaultTopic(Environment environment) {
		try {
			return (this.defaultTopic != null) ? environment.resolveRequiredPlaceholders(this.defaultTopic) : null;
		}
		catch (IllegalArgumentException ex) {
			throw new IdempotentConfigurationException(
					"idempotent.outbox.default-topic is '" + this.defaultTopic
							+ "', which has a placeholder without a value.",
					"Set the property that it names, or add a default value, as in ${shop.topic:orders}.", ex);
		}
	}

	Duration requireDeadRetention() {
		return Objects.requireNonNull(this.deadRetention, "idempotent.outbox.dead-retention");
	}

}
