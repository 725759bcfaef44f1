package dev.idempotent.autoconfigure.outbox;

import java.lang.management.ManagementFactory;
import java.net.URI;
import java.net.URISyntaxException;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;

import javax.sql.DataSource;

import dev.idempotent.IdempotentConfigurationException;
import dev.idempotent.autoconfigure.EncryptionConfiguration;
import dev.idempotent.autoconfigure.TableScript;
import dev.idempotent.encryption.PayloadEncryption;
import dev.idempotent.jdbc.NonTransactionalConnections;
import dev.idempotent.jdbc.TableSweeper;
import dev.idempotent.jdbc.TransactionInspector;
import dev.idempotent.outbox.DeadLetterPolicy;
import dev.idempotent.outbox.HandOffs;
import dev.idempotent.outbox.Outbox;
import dev.idempotent.outbox.OutboxHeaderContributor;
import dev.idempotent.outbox.OutboxObserver;
import dev.idempotent.outbox.OrderedOutboxStore;
import dev.idempotent.outbox.OutboxStore;
import dev.idempotent.outbox.OutboxTopics;
import dev.idempotent.outbox.TopicControl;
import dev.idempotent.outbox.jdbc.JdbcBlockedEvents;
import dev.idempotent.outbox.jdbc.JdbcDeadEvents;
import dev.idempotent.outbox.jdbc.JdbcEventLists;
import dev.idempotent.outbox.jdbc.JdbcOrderedStore;
import dev.idempotent.outbox.jdbc.JdbcOutboxReader;
import dev.idempotent.outbox.jdbc.JdbcOutboxStore;
import dev.idempotent.outbox.jdbc.JdbcTopicControl;
import dev.idempotent.outbox.jdbc.OutboxTableCheck;
import dev.idempotent.outbox.jdbc.OutboxTables;
import dev.idempotent.outbox.PayloadWriter;
import dev.idempotent.outbox.json.JacksonPayloadWriter;
import dev.idempotent.outbox.relay.OutboxRelay;
import dev.idempotent.outbox.transaction.OutboxTransactionListener;
import dev.idempotent.outbox.transaction.TransactionBoundOutbox;
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
import org.springframework.dao.DataAccessResourceFailureException;
import org.springframework.jdbc.datasource.ConnectionHolder;
import org.springframework.jdbc.datasource.DataSourceUtils;
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
@EnableConfigurationProperties({ OutboxProperties.class, OutboxRelayProperties.class })
@Import({ EncryptionConfiguration.class, OutboxRedisConfiguration.class, OutboxKafkaConfiguration.class,
		OutboxTopicConfiguration.class })
public final class OutboxAutoConfiguration {

	@Bean
	OutboxTables outboxTables(OutboxProperties properties) {
		return new OutboxTables(properties.tablePrefix());
	}

	/**
	 * Not lazy, because no other bean may depend on it before the first event.
	 */
	@Bean
	@Lazy(false)
	TableScript outboxSchema(DataSource dataSource, OutboxProperties properties, OutboxTables tables) {
		return new TableScript(dataSource, properties.initializeSchema(), JdbcOutboxStore.class,
				(script) -> named(script, tables),
				(product) -> new IdempotentConfigurationException("An outbox is not supported on " + product + ".",
						"Use PostgreSQL, MySQL, MariaDB or H2, or set idempotent.outbox.enabled=false.", null));
	}

	@Bean
	@DependsOn("outboxSchema")
	OutboxTableCheck outboxTableCheck(DataSource dataSource, OutboxTables tables) {
		return new OutboxTableCheck(dataSource, tables);
	}

	@Bean
	@DependsOn("outboxSchema")
	JdbcOutboxStore outboxStore(DataSource dataSource, OutboxTables tables, PayloadEncryption encryption) {
		return new JdbcOutboxStore(dataSource, tables, encryption);
	}

	@Bean
	@DependsOn("outboxSchema")
	JdbcOrderedStore orderedOutboxStore(DataSource dataSource, OutboxTables tables, PayloadEncryption encryption) {
		return new JdbcOrderedStore(dataSource, tables, encryption);
	}

	@Bean
	JdbcOutboxReader outboxReader(DataSource dataSource, OutboxTables tables) {
		return new JdbcOutboxReader(dataSource, tables);
	}

	@Bean
	JdbcDeadEvents outboxDeadEvents(DataSource dataSource, OutboxTables tables) {
		return new JdbcDeadEvents(dataSource, tables);
	}

	@Bean
	JdbcEventLists outboxEventLists(DataSource dataSource, OutboxTables tables) {
		return new JdbcEventLists(dataSource, tables);
	}

	@Bean
	JdbcBlockedEvents outboxBlockedEvents(DataSource dataSource, OutboxTables tables) {
		return new JdbcBlockedEvents(dataSource, tables);
	}

	@Bean
	JdbcTopicControl outboxTopicControl(DataSource dataSource, OutboxTables tables) {
		return new JdbcTopicControl(dataSource, tables);
	}

	@Bean
	@ConditionalOnProperty("idempotent.outbox.dead-retention")
	TableSweeper outboxDeadEventSweeper(JdbcDeadEvents deadEvents, OutboxProperties properties,
			OutboxActivation activation) {
		TableSweeper sweeper = deadEvents.sweeper(properties.requireDeadRetention());
		activation.whenActive(sweeper::start);
		return sweeper;
	}

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static OutboxActivation outboxActivation() {
		return new OutboxActivation();
	}

	/**
	 * Created when it is requested, which switches the outbox on.
	 */
	@Bean
	@Lazy
	@ConditionalOnMissingBean
	Outbox outbox(OutboxTopics topics, ObjectProvider<PayloadWriter> writers, ObjectProvider<JsonMapper> mappers,
			ObjectProvider<OutboxHeaderContributor> contributors, OutboxProperties properties,
			@Value("${spring.application.name:}") String applicationName, TransactionListenerRegistrar transactions) {
		String source = (properties.source() != null) ? properties.source() : sourceOf(applicationName);
		List<OutboxHeaderContributor> all = contributors.orderedStream().toList();
		PayloadWriter writer = writers
			.getIfAvailable(() -> new JacksonPayloadWriter(mappers.getIfUnique(JsonMapper::shared)));
		return new TransactionBoundOutbox(topics, writer, source,
				(headers) -> all.forEach((each) -> each.contribute(headers)), InstantSource.system(),
				transactions.listener(), properties.order() == OutboxProperties.Order.KEY);
	}

	/**
	 * Encodes what a URI reference does not allow, such as spaces.
	 */
	private static String sourceOf(String applicationName) {
		try {
			return new URI(null, null, "/" + applicationName, null).toASCIIString();
		}
		catch (URISyntaxException ex) {
			throw new IdempotentConfigurationException("spring.application.name cannot be a path of a URI.",
					"Set idempotent.outbox.source to a URI or a path, such as /shop.", ex);
		}
	}

	/**
	 * Lazy, as is its meter binder: an outbox that is off has no meters. Its life cycle
	 * does not stop one that starts with an event during the stop.
	 */
	@Bean(destroyMethod = "stop")
	@Lazy
	OutboxRelay outboxRelay(OutboxStore store, OrderedOutboxStore ordered, OutboxTopics topics, TopicControl control,
			OutboxRelayProperties relay, OutboxProperties properties, ObjectProvider<DeadLetterPolicy> policy,
			ObjectProvider<OutboxObserver> observers) {
		String owner = ManagementFactory.getRuntimeMXBean().getName();
		return new OutboxRelay(store, ordered, properties::blocksOnDead, topics, control, owner, relay,
				policy.getIfAvailable(() -> (event, reason) -> Optional.empty()),
				new OutboxObservers(observers.orderedStream().toList()));
	}

	/**
	 * Not lazy, because no other bean depends on it.
	 */
	@Bean
	@Lazy(false)
	OutboxRelayLifecycle outboxRelayLifecycle(OutboxActivation activation, ObjectProvider<OutboxRelay> relay,
			OutboxTableCheck tables, OutboxTopics topics, OutboxRelayProperties relayProperties,
			OutboxProperties properties) {
		return new OutboxRelayLifecycle(activation, relay, tables, properties.order() == OutboxProperties.Order.KEY,
				topics, relayProperties.enabled());
	}

	/**
	 * Without a relay in this process, events are left to other instances.
	 */
	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static TransactionListenerRegistrar outboxTransactionListening(OutboxActivation activation,
			ObjectProvider<OutboxStore> store, ObjectProvider<OrderedOutboxStore> ordered,
			ObjectProvider<OutboxRelay> relay, ObjectProvider<OutboxRelayProperties> properties,
			ObjectProvider<DataSource> dataSource) {
		return new TransactionListenerRegistrar(activation,
				new OutboxTransactionListener(store::getObject, ordered::getObject, () -> handOffs(relay, properties),
						InstantSource.system(), () -> isInTransaction(dataSource.getObject())));
	}

	private static HandOffs handOffs(ObjectProvider<OutboxRelay> relay,
			ObjectProvider<OutboxRelayProperties> properties) {
		return Boolean.FALSE.equals(properties.getObject().enabled()) ? HandOffs.none() : relay.getObject().handOffs();
	}

	/**
	 * A transaction of another resource may have bound a connection that commits each
	 * statement, or one that nothing commits.
	 */
	private static boolean isInTransaction(DataSource dataSource) {
		DataSource target = NonTransactionalConnections.withoutTransactions(dataSource);
		if (!new TransactionInspector(target).isManaged()) {
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

	/**
	 * Puts the names of the tables into a script. An index is created in the schema of
	 * its table.
	 */
	private static String named(String script, OutboxTables tables) {
		String prefix = tables.prefix();
		String unqualified = prefix.substring(prefix.indexOf('.') + 1);
		return script
			.replace(OutboxProperties.DEFAULT_TABLE_PREFIX + "waiting_available_at",
					unqualified + "waiting_available_at")
			.replace(OutboxProperties.DEFAULT_TABLE_PREFIX + "ordered_head", unqualified + "ordered_head")
			.replaceAll("\\b" + OutboxProperties.DEFAULT_TABLE_PREFIX
					+ "(event|ordered|waiting|dead|control|transaction)\\b", prefix + "$1");
	}

}
