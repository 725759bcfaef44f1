package dev.idempotent.autoconfigure.outbox;

import javax.sql.DataSource;

import dev.idempotent.outbox.handler.OutboxHandlers;
import dev.idempotent.outbox.relay.EventHandler;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.jdbc.metadata.CompositeDataSourcePoolMetadataProvider;
import org.springframework.boot.jdbc.metadata.DataSourcePoolMetadata;
import org.springframework.boot.jdbc.metadata.DataSourcePoolMetadataProvider;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;

/**
 * Compares the threads of handlers with the connections of the pool.
 */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass(DataSourcePoolMetadataProvider.class)
class HandlerConnectionsConfiguration {

	private static final Logger logger = LoggerFactory.getLogger(HandlerConnectionsConfiguration.class);

	/**
	 * Not lazy, because no other bean depends on it.
	 */
	@Bean
	@Lazy(false)
	SmartInitializingSingleton outboxHandlerConnectionsCheck(OutboxHandlers handlers, OutboxProperties properties,
			ObjectProvider<DataSource> dataSource, ObjectProvider<DataSourcePoolMetadataProvider> pools) {
		return () -> {
			int threads = handlers.all()
				.stream()
				.filter(EventHandler::removesEvents)
				.mapToInt(EventHandler::concurrency)
				.sum();
			if (threads > 0 && !Boolean.FALSE.equals(properties.relay().enabled())) {
				DataSourcePoolMetadata pool = new CompositeDataSourcePoolMetadataProvider(
						pools.orderedStream().toList())
					.getDataSourcePoolMetadata(dataSource.getObject());
				warnIfTooSmall(threads, (pool != null) ? pool.getMax() : null);
			}
		};
	}

	/**
	 * If handlers have all connections, a handler that needs another one waits until its
	 * timeout.
	 */
	private static void warnIfTooSmall(int threads, @Nullable Integer connections) {
		if (connections != null && connections >= 0 && connections <= threads) {
			logger
				.warn("The @OutboxHandler methods hold up to {} connections in transactions, and the pool has {}: work "
						+ "that needs a second one (REQUIRES_NEW), the relay and requests then wait until the timeout of the "
						+ "pool. Set spring.datasource.hikari.maximum-pool-size to more than {}, or lower "
						+ "idempotent.outbox.handlers.concurrency", threads, connections, threads);
		}
	}

}
