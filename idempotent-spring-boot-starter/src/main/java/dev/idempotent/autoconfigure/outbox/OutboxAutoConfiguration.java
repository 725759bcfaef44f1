package dev.idempotent.autoconfigure.outbox;

import java.net.URI;
import java.net.URISyntaxException;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

import javax.sql.DataSource;

import dev.idempotent.IdempotentConfigurationException;
import dev.idempotent.autoconfigure.DeploymentTable;
import dev.idempotent.autoconfigure.EncryptionConfiguration;
import dev.idempotent.autoconfigure.TableScript;
import dev.idempotent.autoconfigure.TransactionConfiguration;
import dev.idempotent.autoconfigure.idempotency.IdempotencyProperties;
import dev.idempotent.encryption.PayloadEncryption;
import dev.idempotent.jdbc.TableSweeper;
import dev.idempotent.outbox.DeadLetterPolicy;
import dev.idempotent.outbox.Outbox;
import dev.idempotent.outbox.OutboxHeaderContributor;
import dev.idempotent.outbox.OutboxObserver;
import dev.idempotent.outbox.OutboxPublisher;
import dev.idempotent.outbox.OutboxTopics;
import dev.idempotent.outbox.PayloadWriter;
import dev.idempotent.outbox.TopicControl;
import dev.idempotent.outbox.handler.OutboxHandlers;
import dev.idempotent.outbox.jdbc.EventTable;
import dev.idempotent.outbox.jdbc.JdbcDeadEvents;
import dev.idempotent.outbox.jdbc.OutboxOperations;
import dev.idempotent.outbox.jdbc.OutboxTableCheck;
import dev.idempotent.outbox.relay.OutboxRelay;
import dev.idempotent.outbox.transaction.OutboxTransactions;
import dev.idempotent.outbox.transaction.TransactionBoundOutbox;
import dev.idempotent.transaction.OwnTransactions;
import dev.idempotent.transaction.TransactionGuard;
import dev.idempotent.concurrent.Observers;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.DependsOn;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Lazy;
import org.springframework.context.annotation.Role;
import org.springframework.core.env.Environment;
import org.springframework.dao.DataAccessResourceFailureException;
import org.springframework.jdbc.datasource.ConnectionHolder;
import org.springframework.jdbc.datasource.DataSourceUtils;
import org.springframework.util.StringUtils;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.json.JsonMapper;

/**
 * Auto-configuration for the transactional outbox and its relay.
 */
@AutoConfiguration(after = DataSourceTransactionManagerAutoConfiguration.class,
		afterName = { "org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration",
				"org.springframework.boot.jackson.autoconfigure.JacksonAutoConfiguration",
				"org.springframework.boot.kafka.autoconfigure.KafkaAutoConfiguration" })
@ConditionalOnBooleanProperty(name = "idempotent.outbox.enabled", matchIfMissing = true)
@ConditionalOnClass({ DataSource.class, ConnectionHolder.class, JsonMapper.class })
@ConditionalOnSingleCandidate(DataSource.class)
@EnableConfigurationProperties(OutboxProperties.class)
@Import({ EncryptionConfiguration.class, TransactionConfiguration.class, OutboxRedisConfiguration.class,
		OutboxKafkaConfiguration.class, OutboxHandlerConfiguration.class, HandlerConnectionsConfiguration.class })
final class OutboxAutoConfiguration {

	/**
	 * By name, because their technologies are optional.
	 */
	private static final Set<String> OWN = Set.of("dev.idempotent.outbox.kafka.KafkaOutboxPublisher",
			"dev.idempotent.outbox.redis.RedisStreamPublisher", "dev.idempotent.outbox.redis.RedisChannelPublisher");

	/**
	 * Not lazy, because no other bean may depend on it before the first event.
	 */
	@Bean
	@Lazy(false)
	TableScript outboxSchema(DataSource dataSource, OutboxProperties properties) {
		return new TableScript(dataSource, properties.initializeSchema(), "outbox",
				(script) -> TableScript.rename(script, OutboxProperties.DEFAULT_TABLE_PREFIX,
						"event|delayed|dead|control|transaction|deployment", properties.tablePrefix()),
				(product) -> new IdempotentConfigurationException("An outbox is not supported on " + product + ".",
						"Use PostgreSQL, MySQL, MariaDB or H2, or set idempotent.outbox.enabled=false."));
	}

	@Bean
	@DependsOn("outboxSchema")
	OutboxTableCheck outboxTableCheck(OwnTransactions transactions, OutboxProperties properties) {
		return new OutboxTableCheck(transactions, properties.tablePrefix());
	}

	@Bean
	@DependsOn("outboxSchema")
	HandlersOwner outboxHandlersOwner(OwnTransactions transactions, OutboxProperties properties,
			@Value("${idempotent.namespace:}") String namespace,
			@Value("${spring.application.name:}") String applicationName) {
		return new HandlersOwner(new DeploymentTable(transactions, properties.tablePrefix()),
				StringUtils.hasText(namespace) ? namespace : applicationName, properties.tablePrefix());
	}

	@Bean
	@DependsOn("outboxSchema")
	EventTable outboxEventTable(OwnTransactions transactions, OutboxProperties properties,
			PayloadEncryption encryption) {
		return new EventTable(transactions, properties.tablePrefix(), encryption);
	}

	@Bean
	JdbcDeadEvents outboxDeadEvents(OwnTransactions transactions, OutboxProperties properties) {
		return new JdbcDeadEvents(transactions, properties.tablePrefix());
	}

	@Bean
	OutboxOperations outboxOperations(OwnTransactions transactions, OutboxProperties properties,
			PayloadEncryption encryption) {
		return new OutboxOperations(transactions, properties.tablePrefix(), encryption);
	}

	@Bean
	@ConditionalOnProperty("idempotent.outbox.dead-retention")
	TableSweeper outboxDeadEventSweeper(JdbcDeadEvents deadEvents, OutboxProperties properties,
			OutboxActivation activation) {
		TableSweeper sweeper = deadEvents.sweeper(properties.requireDeadRetention());
		activation.whenActive(sweeper::start);
		return sweeper;
	}

	/**
	 * A publisher of the application replaces the auto-configured one with the same
	 * prefix.
	 */
	@Bean
	OutboxTopics outboxTopics(ObjectProvider<OutboxPublisher> publishers, OutboxProperties properties,
			Environment environment, OutboxHandlers handlers) {
		OutboxTopics topics = new OutboxTopics(withoutReplaced(publishers.orderedStream().toList()),
				properties.defaultTopic(environment), handlers::namesFor);
		properties.topics()
			.keySet()
			.stream()
			.filter((topic) -> !topic.startsWith(OutboxTopics.HANDLERS + ":"))
			.forEach((topic) -> requireServed(topics, topic));
		return topics;
	}

	/**
	 * Leaves out publishers of this library whose prefix one of the application has.
	 */
	private static List<OutboxPublisher> withoutReplaced(List<OutboxPublisher> publishers) {
		Set<String> applications = publishers.stream()
			.filter((publisher) -> !isOwn(publisher))
			.map(OutboxPublisher::prefix)
			.collect(Collectors.toSet());
		return publishers.stream()
			.filter((publisher) -> !isOwn(publisher) || !applications.contains(publisher.prefix()))
			.toList();
	}

	private static boolean isOwn(OutboxPublisher publisher) {
		return OWN.contains(publisher.getClass().getName());
	}

	private static void requireServed(OutboxTopics topics, String topic) {
		if (topic.contains("${")) {
			throw new IdempotentConfigurationException(
					"idempotent.outbox.topics.[" + topic + "] has a placeholder, which is not replaced.",
					"Write the name of the topic itself.");
		}
		try {
			topics.resolve(topic);
		}
		catch (IllegalArgumentException ex) {
			throw new IdempotentConfigurationException(
					"idempotent.outbox.topics.[" + topic + "]: " + ex.getMessage() + ".",
					"Name a topic of a publisher: \"[kafka:orders]\" in YAML, with quotes; [kafka\\:orders] in a properties file.",
					ex);
		}
	}

	/**
	 * Created when it is requested, which switches the outbox on.
	 */
	@Bean
	@Lazy
	@ConditionalOnMissingBean
	Outbox outbox(OutboxTopics topics, ObjectProvider<PayloadWriter> writers, ObjectProvider<JsonMapper> mappers,
			ObjectProvider<OutboxHeaderContributor> contributors, OutboxProperties properties,
			@Value("${idempotent.namespace:}") String namespace,
			@Value("${spring.application.name:}") String applicationName, OutboxTransactions transactions) {
		String source = (properties.source() != null) ? properties.source()
				: sourceOf(IdempotencyProperties.requireNamespace(namespace, applicationName));
		PayloadWriter writer = writers.getIfAvailable(() -> json(mappers.getIfUnique(JsonMapper::shared)));
		return new TransactionBoundOutbox(topics, writer, source, contributors.orderedStream().toList(),
				InstantSource.system(), transactions, properties.order() == OutboxProperties.Order.KEY);
	}

	/**
	 * Creates a writer that uses the mapper of the application, without type names.
	 */
	private static PayloadWriter json(JsonMapper mapper) {
		JsonMapper untyped = mapper.rebuild().deactivateDefaultTyping().build();
		return (payload) -> {
			try {
				return untyped.writeValueAsBytes(payload);
			}
			catch (JacksonException ex) {
				// The message of the mapper may contain values.
				throw new IllegalArgumentException("A payload of type " + payload.getClass().getName()
						+ " cannot be written as JSON: append an object that can, such as a record", ex);
			}
		};
	}

	/**
	 * Encodes what a URI reference does not allow, such as spaces.
	 */
	private static String sourceOf(String namespace) {
		try {
			return new URI(null, null, "/" + namespace, null).toASCIIString();
		}
		catch (URISyntaxException ex) {
			throw new IdempotentConfigurationException("idempotent.namespace cannot be a path of a URI.",
					"Set idempotent.outbox.source to a URI or a path, such as /shop.", ex);
		}
	}

	/**
	 * Lazy, as is its meter binder: an outbox that is off has no meters. Its life cycle
	 * does not stop one that starts with an event during the stop.
	 */
	@Bean(destroyMethod = "stop")
	@Lazy
	OutboxRelay outboxRelay(EventTable table, OutboxTableCheck tables, OutboxTopics topics, TopicControl control,
			OutboxProperties properties, ObjectProvider<DeadLetterPolicy> policy,
			ObjectProvider<OutboxObserver> observers, OutboxHandlers handlers, HandlersOwner owner) {
		return new OutboxRelay(table, properties::blocksOnDead, topics, control, () -> {
			owner.require();
			tables.requirePrivileges();
		}, properties.relay(), policy.getIfAvailable(() -> (event, reason) -> Optional.empty()), all(observers),
				handlers::all);
	}

	static OutboxObserver all(ObjectProvider<OutboxObserver> observers) {
		Observers<OutboxObserver> all = new Observers<>(observers.orderedStream().toList(),
				LoggerFactory.getLogger(OutboxRelay.class), "An OutboxObserver", "events are delivered nevertheless");
		return new OutboxObserver() {

			@Override
			public void published(String publisher, BatchResult batch, Duration took) {
				all.each((each) -> each.published(publisher, batch, took));
			}

			@Override
			public void delivered(String publisher, Duration sinceCommit) {
				all.each((each) -> each.delivered(publisher, sinceCommit));
			}

			@Override
			public void unreceived(String publisher) {
				all.each((each) -> each.unreceived(publisher));
			}

		};
	}

	/**
	 * Not lazy, because no other bean depends on it.
	 */
	@Bean
	@Lazy(false)
	OutboxRelayLifecycle outboxRelayLifecycle(OutboxActivation activation, ObjectProvider<OutboxRelay> relay,
			OutboxTableCheck tables, OutboxTopics topics, OutboxHandlers handlers, HandlersOwner owner,
			OutboxProperties properties) {
		return new OutboxRelayLifecycle(activation, relay, tables, properties.order() == OutboxProperties.Order.KEY,
				topics, handlers, owner, properties.relay().enabled());
	}

	/**
	 * Without a relay in this process, events are left to other instances.
	 */
	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static OutboxActivation outboxActivation() {
		return new OutboxActivation();
	}

	@Bean
	OutboxTransactions outboxTransactions(ObjectProvider<EventTable> table, ObjectProvider<OutboxRelay> relay,
			OutboxProperties properties, ObjectProvider<DataSource> dataSource) {
		return new OutboxTransactions(table::getObject, () -> {
			boolean off = Boolean.FALSE.equals(properties.relay().enabled());
			return off ? (rows) -> {
			} : relay.getObject()::committed;
		}, () -> isInTransaction(dataSource.getObject()));
	}

	/**
	 * A transaction of another resource may have bound a connection that commits each
	 * statement, or one that nothing commits.
	 */
	private static boolean isInTransaction(DataSource dataSource) {
		DataSource target = TransactionGuard.target(dataSource);
		if (!TransactionGuard.isCurrent(target)) {
			return false;
		}
		Connection connection = DataSourceUtils.getConnection(target);
		try {
			return !connection.getAutoCommit();
		}
		catch (SQLException ex) {
			throw new DataAccessResourceFailureException("The transaction could not be examined", ex);
		}
		finally {
			DataSourceUtils.releaseConnection(connection, target);
		}
	}

}
