package dev.idempotent.autoconfigure.outbox;

import java.net.URI;
import java.net.URISyntaxException;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Stream;

import dev.idempotent.IdempotentConfigurationException;
import dev.idempotent.autoconfigure.Durations;
import dev.idempotent.jdbc.Database;
import dev.idempotent.outbox.relay.RelaySettings;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.boot.sql.init.DatabaseInitializationMode;
import org.springframework.core.env.Environment;
import org.springframework.util.unit.DataSize;

/**
 * Properties of the transactional outbox.
 *
 * @param enabled Whether the outbox is available. If false, @TransactionalOutbox has no
 * effect.
 * @param defaultTopic Topic of events that name none, such as redis-stream:events.
 * @param order Whether events of the same topic and key are delivered in order.
 * @param source The source of the CloudEvents, a URI reference. Defaults to a slash and
 * the namespace.
 * @param initializeSchema When to create the tables at startup.
 * @param tablePrefix Prefix of the names of the tables, optionally with a schema.
 * @param deadRetention How long dead events are kept. Defaults to keeping them until an
 * operator discards them.
 * @param onDead What happens to later events of a key when one has no next attempt.
 * @param topics Properties of topics, by name. The name must be in brackets, such as
 * idempotent.outbox.topics.[kafka:orders].on-dead.
 * @param relay The relay, which delivers events.
 * @param redis The publishers to Redis.
 * @param modulith The events that Spring Modulith externalizes.
 * @param handlers The methods with @OutboxHandler.
 */
@ConfigurationProperties("idempotent.outbox")
record OutboxProperties(@DefaultValue("true") boolean enabled, @Nullable String defaultTopic,
		@DefaultValue("key") Order order, @Nullable String source,
		@DefaultValue("embedded") DatabaseInitializationMode initializeSchema,
		@DefaultValue(OutboxProperties.DEFAULT_TABLE_PREFIX) String tablePrefix, @Nullable Duration deadRetention,
		@DefaultValue("skip") OnDead onDead, @DefaultValue Map<String, Map<String, String>> topics,
		@DefaultValue Relay relay, @DefaultValue Redis redis, @DefaultValue Modulith modulith,
		@DefaultValue Handlers handlers) {

	static final String DEFAULT_TABLE_PREFIX = "outbox_";

	OutboxProperties {
		topics.forEach(OutboxProperties::onDead);
		if (!Database.isTableName(tablePrefix)) {
			throw new IdempotentConfigurationException("idempotent.outbox.table-prefix is not a valid table prefix.",
					"Set it to letters, digits and underscores, optionally with a schema.");
		}
		if (source != null && !isUriReference(source)) {
			throw new IdempotentConfigurationException("idempotent.outbox.source is not a URI reference.",
					"Set it to a URI or a path, such as /shop, or omit it.");
		}
		if (deadRetention != null) {
			Durations.requirePositive("idempotent.outbox.dead-retention", deadRetention, "30d");
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
					"Set " + name + ".on-dead only.");
		}
		String value = stated.values().iterator().next();
		return Stream.of(OnDead.values())
			.filter((each) -> each.name().equalsIgnoreCase(value))
			.findFirst()
			.orElseThrow(() -> new IdempotentConfigurationException(name + ".on-dead is neither skip nor block.",
					"Set it to one of them, or remove it."));
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

	/**
	 * Properties of the relay, which delivers the events of this instance.
	 *
	 * @param enabled Whether this instance delivers events. By default it does if it uses
	 * the outbox: if it has a @TransactionalOutbox method, or requests the Outbox. With
	 * true, it delivers the events of other programs too; with false, it only appends
	 * events.
	 * @param batchSize How many events are published at a time.
	 * @param batchMemory How much payload is published at a time. A larger event is
	 * published alone.
	 * @param workers How many threads deliver events, for each publisher.
	 * @param lease How long this instance leases an event before another may claim it.
	 * @param scanInterval How long to wait after a scan of all events before the next
	 * one.
	 * @param attempts How many attempts an event for a publisher has before it is dead.
	 * @param backoff How long an event waits at most after its first failed attempt.
	 * @param maxBackoff How long an event for a publisher waits at most.
	 * @param drainTimeout How long to continue delivering when the application stops.
	 */
	record Relay(@Nullable Boolean enabled, @DefaultValue("500") int batchSize,
			@DefaultValue("4MB") DataSize batchMemory, @DefaultValue("2") int workers,
			@DefaultValue("30s") Duration lease, @DefaultValue("1s") Duration scanInterval,
			@DefaultValue("10") int attempts, @DefaultValue("1s") Duration backoff,
			@DefaultValue("5m") Duration maxBackoff,
			@DefaultValue("10s") Duration drainTimeout) implements RelaySettings {

		private static final String NUMBER = "a number of at least 1";

		private static final String DURATION = "a duration of at least one millisecond, such as 1s";

		Relay {
			require("batch-size", batchSize, batchSize, NUMBER);
			require("workers", workers, workers, NUMBER);
			require("batch-memory", batchMemory.toBytes(), batchMemory, "a size of at least one byte, such as 4MB");
			require("attempts", attempts, attempts, NUMBER);
			require("lease", lease.toMillis(), lease, DURATION);
			require("scan-interval", scanInterval.toMillis(), scanInterval, DURATION);
			require("backoff", backoff.toMillis(), backoff, DURATION);
			require("max-backoff", maxBackoff.toMillis(), maxBackoff, DURATION);
			require("drain-timeout", drainTimeout.toMillis(), drainTimeout, DURATION);
		}

		private static void require(String name, long amount, Object value, String wanted) {
			if (amount < 1) {
				throw new IdempotentConfigurationException("idempotent.outbox.relay." + name + " is " + value + ".",
						"Set it to " + wanted + ", or omit it.");
			}
		}

	}

	/**
	 * Properties of the publishers to Redis.
	 *
	 * @param timeout How long to wait for a connection and for the replies to a batch.
	 * Applies to Lettuce; other clients use the application's timeout.
	 * @param maxLength Approximate number of entries that a stream keeps. Older entries
	 * are removed even if a consumer group has not read them. Defaults to keeping all.
	 * @param waitReplicas How many replicas must confirm a batch of stream entries before
	 * its events count as delivered. Needs Lettuce and a standalone or Sentinel Redis.
	 * @param waitTimeout How long to wait for the replicas. Events that are not confirmed
	 * in time are sent again.
	 */
	record Redis(@DefaultValue("5s") Duration timeout, @Nullable Long maxLength, @DefaultValue("0") int waitReplicas,
			@DefaultValue("1s") Duration waitTimeout) {

		Redis {
			Durations.require("idempotent.outbox.redis.timeout", timeout);
			Durations.require("idempotent.outbox.redis.wait-timeout", waitTimeout);
			if (maxLength != null && maxLength < 1) {
				throw new IdempotentConfigurationException(
						"idempotent.outbox.redis.max-length is %d.".formatted(maxLength),
						"Set it to the minimum number of entries that a stream keeps, or omit it to keep all.");
			}
			if (waitReplicas < 0) {
				throw new IdempotentConfigurationException(
						"idempotent.outbox.redis.wait-replicas is %d.".formatted(waitReplicas),
						"Set it to the number of replicas that must confirm a batch, or to 0 to wait for none.");
			}
			if (waitReplicas > 0 && waitTimeout.compareTo(timeout) >= 0) {
				throw new IdempotentConfigurationException(
						"idempotent.outbox.redis.wait-timeout (%s) is not shorter than idempotent.outbox.redis.timeout (%s)."
							.formatted(waitTimeout, timeout),
						"Set idempotent.outbox.redis.wait-timeout to a shorter duration than idempotent.outbox.redis.timeout.");
			}
		}

	}

	/**
	 * Properties of the events that Spring Modulith externalizes.
	 *
	 * @param publisher Prefix of targets that do not begin with the prefix of a
	 * publisher, such as redis-stream. By default, such targets are refused.
	 */
	record Modulith(@Nullable String publisher) {

	}

	/**
	 * Properties of the methods with @OutboxHandler.
	 *
	 * @param lease How long an attempt takes at most. The transaction of a handler times
	 * out after it. Then another instance can handle the event.
	 * @param concurrency How many events each handler handles at the same time, in each
	 * instance.
	 * @param attempts How many attempts an event has before it is dead.
	 * @param maxBackoff How long an event waits at most between two attempts.
	 * @param leases The leases of single handlers, by name, such as
	 * idempotent.outbox.handlers.leases.book=5m.
	 * @param concurrencies The concurrencies of single handlers, by name, such as
	 * idempotent.outbox.handlers.concurrencies.book=4.
	 */
	record Handlers(@DefaultValue("1m") Duration lease, @DefaultValue("1") int concurrency,
			@DefaultValue("24") int attempts, @DefaultValue("2h") Duration maxBackoff,
			@DefaultValue Map<String, Duration> leases, @DefaultValue Map<String, Integer> concurrencies) {

		private static final String NAME = "idempotent.outbox.handlers.";

		Handlers {
			Durations.require(NAME + "lease", lease);
			leases.forEach((handler, value) -> Durations.require(NAME + "leases." + handler, value));
			require("concurrency", concurrency);
			require("attempts", attempts);
			Durations.require(NAME + "max-backoff", maxBackoff);
			concurrencies.forEach((handler, value) -> require("concurrencies." + handler, value));
		}

		private static void require(String name, int number) {
			if (number < 1) {
				throw new IdempotentConfigurationException(NAME + name + " is " + number + ".",
						"Set it to a number of at least 1, or omit it.");
			}
		}

		/**
		 * Requires that all handlers exist that properties name.
		 */
		void requireKnown(Set<String> handlers) {
			leases().keySet().forEach((name) -> requireKnown(NAME + "leases." + name, name, handlers));
			concurrencies().keySet().forEach((name) -> requireKnown(NAME + "concurrencies." + name, name, handlers));
		}

		static void requireKnown(String property, String name, Set<String> handlers) {
			if (!handlers.contains(name)) {
				throw new IdempotentConfigurationException(
						property + " names a handler that does not exist; the handlers are " + handlers + ".",
						"Name one of them, or remove the property. A name with other characters than letters, digits, "
								+ "hyphens and dots must be in brackets.");
			}
		}

	}

}
