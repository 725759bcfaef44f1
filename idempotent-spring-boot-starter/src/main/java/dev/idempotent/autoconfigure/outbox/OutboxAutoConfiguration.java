package dev.idempotent.autoconfigure.outbox;

import java.lang.management.ManagementFactory;
import java.time.InstantSource;
import java.util.List;

import javax.sql.DataSource;

import dev.idempotent.IdempotentConfigurationException;
import dev.idempotent.autoconfigure.TableScript;
import dev.idempotent.outbox.HandOffs;
import dev.idempotent.outbox.Outbox;
import dev.idempotent.outbox.OutboxHeaderContributor;
import dev.idempotent.outbox.OutboxObserver;
import dev.idempotent.outbox.OutboxPublisher;
import dev.idempotent.outbox.OutboxStore;
import dev.idempotent.outbox.OutboxTopics;
import dev.idempotent.outbox.jdbc.JdbcOutboxStore;
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
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.DependsOn;
import org.springframework.context.annotation.Lazy;
import org.springframework.context.annotation.Role;
import org.springframework.jdbc.datasource.ConnectionHolder;
import tools.jackson.databind.json.JsonMapper;

/**
 * Lets an application append events in its transactions, and delivers them.
 */
@AutoConfiguration(after = DataSourceTransactionManagerAutoConfiguration.class,
		afterName = "org.springframework.boot.jackson.autoconfigure.JacksonAutoConfiguration")
@ConditionalOnBooleanProperty(name = "idempotent.outbox.enabled", matchIfMissing = true)
@ConditionalOnClass({ DataSource.class, ConnectionHolder.class, JsonMapper.class })
@ConditionalOnSingleCandidate(DataSource.class)
@EnableConfigurationProperties({ OutboxProperties.class, OutboxRelayProperties.class })
public final class OutboxAutoConfiguration {

	@Bean
	OutboxTables outboxTables(OutboxProperties properties) {
		return new OutboxTables(properties.tablePrefix());
	}

	/**
	 * No other bean may need it before the first event, in an application whose beans are
	 * lazy.
	 */
	@Bean
	@Lazy(false)
	TableScript outboxSchema(DataSource dataSource, OutboxProperties properties, OutboxTables tables) {
		return new TableScript(dataSource, properties.initializeSchema(), JdbcOutboxStore.class,
				(script) -> named(script, tables),
				(product) -> new IdempotentConfigurationException("An outbox cannot be kept in " + product + ".",
						"Use PostgreSQL, MySQL, MariaDB or H2, or set idempotent.outbox.enabled=false.", null));
	}

	/**
	 * Made after its tables, even where beans are lazy.
	 */
	@Bean
	@DependsOn("outboxSchema")
	JdbcOutboxStore outboxStore(DataSource dataSource, OutboxTables tables) {
		return new JdbcOutboxStore(dataSource, tables);
	}

	@Bean
	OutboxTopics outboxTopics(ObjectProvider<OutboxPublisher> publishers, OutboxProperties properties) {
		return new OutboxTopics(publishers.orderedStream().toList(), properties.defaultTopic());
	}

	@Bean
	@ConditionalOnMissingBean
	Outbox outbox(OutboxTopics topics, ObjectProvider<PayloadWriter> writers, ObjectProvider<JsonMapper> mappers,
			ObjectProvider<OutboxHeaderContributor> contributors, OutboxProperties properties,
			@Value("${spring.application.name:}") String applicationName) {
		String source = (properties.source() != null) ? properties.source() : "/" + applicationName;
		List<OutboxHeaderContributor> all = contributors.orderedStream().toList();
		PayloadWriter writer = writers
			.getIfAvailable(() -> new JacksonPayloadWriter(mappers.getIfUnique(JsonMapper::shared)));
		return new TransactionBoundOutbox(topics, writer, source,
				(headers) -> all.forEach((each) -> each.contribute(headers)), InstantSource.system());
	}

	@Bean
	OutboxRelay outboxRelay(OutboxStore store, OutboxTopics topics, OutboxRelayProperties properties,
			ObjectProvider<OutboxObserver> observers) {
		String owner = ManagementFactory.getRuntimeMXBean().getName();
		return new OutboxRelay(store, topics, owner, properties,
				new OutboxObservers(observers.orderedStream().toList()));
	}

	/**
	 * Nobody asks for it, in an application whose beans are lazy.
	 */
	@Bean
	@Lazy(false)
	@ConditionalOnBooleanProperty(name = "idempotent.outbox.relay.enabled", matchIfMissing = true)
	OutboxRelayLifecycle outboxRelayLifecycle(OutboxRelay relay, JdbcOutboxStore store) {
		return new OutboxRelayLifecycle(relay, store);
	}

	/**
	 * A relay that does not run takes nothing: its events are left to other instances.
	 */
	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static TransactionListenerRegistrar outboxTransactionListening(ObjectProvider<OutboxStore> store,
			ObjectProvider<OutboxRelay> relay, ObjectProvider<OutboxRelayProperties> properties) {
		return new TransactionListenerRegistrar(
				new OutboxTransactionListener(store::getObject, () -> handOffs(relay, properties)));
	}

	private static HandOffs handOffs(ObjectProvider<OutboxRelay> relay,
			ObjectProvider<OutboxRelayProperties> properties) {
		return properties.getObject().enabled() ? relay.getObject().handOffs() : HandOffs.none();
	}

	/**
	 * A script for the tables' own names. An index is in the same schema by itself.
	 */
	private static String named(String script, OutboxTables tables) {
		String prefix = tables.prefix();
		String unqualified = prefix.substring(prefix.indexOf('.') + 1);
		return script
			.replace(OutboxProperties.DEFAULT_TABLE_PREFIX + "waiting_available_at",
					unqualified + "waiting_available_at")
			.replaceAll("\\b" + OutboxProperties.DEFAULT_TABLE_PREFIX + "(event|waiting|dead)\\b", prefix + "$1");
	}

}
