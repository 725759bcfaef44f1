package dev.idempotent.autoconfigure.idempotency;

import javax.sql.DataSource;

import dev.idempotent.IdempotentConfigurationException;
import dev.idempotent.autoconfigure.DeploymentTable;
import dev.idempotent.autoconfigure.TableScript;
import dev.idempotent.autoconfigure.idempotency.IdempotencyAutoConfiguration.KeySettings;
import dev.idempotent.idempotency.IdempotencyStore;
import dev.idempotent.idempotency.engine.IdempotencyTransactions.IdempotencyTransactionSource;
import dev.idempotent.idempotency.jdbc.JdbcIdempotencyStore;
import dev.idempotent.idempotency.jdbc.JdbcIdempotencyStore.Sweepers;
import dev.idempotent.idempotency.jdbc.JdbcTransactionSource;
import dev.idempotent.jdbc.Database;
import dev.idempotent.transaction.OwnTransactions;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.jdbc.metadata.CompositeDataSourcePoolMetadataProvider;
import org.springframework.boot.jdbc.metadata.DataSourcePoolMetadata;
import org.springframework.boot.jdbc.metadata.DataSourcePoolMetadataProvider;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import org.springframework.core.annotation.Order;
import org.springframework.dao.InvalidDataAccessResourceUsageException;
import org.springframework.jdbc.datasource.ConnectionHolder;
import org.springframework.transaction.annotation.AnnotationTransactionAttributeSource;
import org.springframework.transaction.interceptor.TransactionAttributeSource;

/**
 * Stores idempotency keys in the application's database: all of them if there is no other
 * store, otherwise only the keys of {@code Guarantee.TRANSACTION}.
 */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass({ DataSource.class, ConnectionHolder.class, DataSourcePoolMetadata.class })
@ConditionalOnSingleCandidate(DataSource.class)
@EnableConfigurationProperties(IdempotencyProperties.Jdbc.class)
class JdbcStoreConfiguration {

	private static final Logger logger = LoggerFactory.getLogger(JdbcStoreConfiguration.class);

	private static final int FEW_WAITERS = 2;

	private static final int FEW_CONNECTIONS = 4;

	/**
	 * Not lazy, because no other bean depends on it.
	 */
	@Bean
	@Lazy(false)
	TableScript idempotencySchema(DataSource dataSource, IdempotencyProperties.Jdbc properties) {
		return new TableScript(dataSource, properties.initializeSchema(), "idempotency",
				(script) -> TableScript.rename(script, IdempotencyProperties.Jdbc.DEFAULT_TABLE, "(?:_deployment)?",
						properties.table()),
				(product) -> new IdempotentConfigurationException(
						"Idempotency keys cannot be stored in " + product + ".",
						"Use PostgreSQL, MySQL, MariaDB or H2, or omit idempotent.jdbc.initialize-schema and store "
								+ "them in Redis."));
	}

	@Bean
	@Order(0)
	DeploymentFacts idempotencyDeploymentTable(OwnTransactions transactions, IdempotencyProperties.Jdbc properties) {
		DeploymentTable table = new DeploymentTable(transactions, properties.table() + "_");
		return new DeploymentFacts(table::read, table::add, table::replace,
				InvalidDataAccessResourceUsageException.class::isInstance,
				"The database lacks the table " + table.name() + ", or denies access to it. "
						+ Database.howToCreateTables("<database>", "idempotency", "idempotent.jdbc"));
	}

	@Bean
	Sweepers idempotencySweepers(OwnTransactions transactions, IdempotencyProperties.Jdbc properties) {
		return new Sweepers(transactions, properties.table(), properties.sweepInterval());
	}

	@Bean
	@ConditionalOnMissingBean(IdempotencyTransactionSource.class)
	JdbcTransactionSource idempotencyTransactionSource(BeanFactory beanFactory, OwnTransactions transactions,
			ObjectProvider<TransactionAttributeSource> attributes, Sweepers sweepers,
			IdempotencyProperties.Jdbc properties, KeySettings keys, DataSource dataSource,
			ObjectProvider<DataSourcePoolMetadataProvider> pools) {
		return new JdbcTransactionSource(beanFactory, properties.transactionManager(),
				attributes.getIfUnique(AnnotationTransactionAttributeSource::new), transactions, properties.table(),
				maxWaiters(properties, dataSource, pools), properties.lockTimeout(), keys.maxRun(), sweepers,
				UnpooledConnections::find);
	}

	private static int maxWaiters(IdempotencyProperties.Jdbc properties, DataSource dataSource,
			ObjectProvider<DataSourcePoolMetadataProvider> pools) {
		if (properties.maxWaiters() != null) {
			return properties.maxWaiters();
		}
		Integer connections = connections(dataSource, pools);
		return (connections != null) ? Math.max(1, connections / 4) : FEW_WAITERS;
	}

	private static @Nullable Integer connections(DataSource dataSource,
			ObjectProvider<DataSourcePoolMetadataProvider> pools) {
		DataSourcePoolMetadata pool = new CompositeDataSourcePoolMetadataProvider(pools.orderedStream().toList())
			.getDataSourcePoolMetadata(dataSource);
		return (pool != null) ? pool.getMax() : null;
	}

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnMissingBean(IdempotencyStore.class)
	@ConditionalOnProperty(name = "idempotent.store", havingValue = "jdbc", matchIfMissing = true)
	static class AsStore {

		@Bean
		IdempotencyStore jdbcIdempotencyStore(DataSource dataSource, OwnTransactions transactions,
				IdempotencyProperties.Jdbc properties, Sweepers sweepers) {
			sweepers.sweep(dataSource);
			return new JdbcIdempotencyStore(transactions, properties.table(), UnpooledConnections.of(dataSource));
		}

		/**
		 * Runs after the migrations of all other beans.
		 */
		@Bean
		SmartInitializingSingleton idempotencyTableCheck(DataSource dataSource, OwnTransactions transactions,
				IdempotencyProperties.Jdbc properties, ObjectProvider<DataSourcePoolMetadataProvider> pools) {
			return () -> {
				new JdbcIdempotencyStore(transactions, properties.table()).verify();
				Integer connections = connections(dataSource, pools);
				if (connections != null && connections < FEW_CONNECTIONS) {
					logger
						.warn("Idempotency keys are stored in the database, and its pool has at most {} connections. A method "
								+ "that is called within a transaction uses a second connection for its key, so concurrent "
								+ "callers can exhaust the pool and fail after 2 seconds. Increase the size of the pool "
								+ "(spring.datasource.hikari.maximum-pool-size)", connections);
				}
			};
		}

	}

}
