package dev.idempotent.autoconfigure.test;

import javax.sql.DataSource;

import dev.idempotent.autoconfigure.idempotency.IdempotencyAutoConfiguration;
import dev.idempotent.idempotency.IdempotencyStore;
import dev.idempotent.idempotency.engine.IdempotencyTransactions.IdempotencyTransactionSource;
import dev.idempotent.test.InMemoryIdempotencyStore;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;

/**
 * Auto-configuration for keys that are stored in memory. Without a database, operations
 * under {@code Guarantee.TRANSACTION} have only that store.
 */
@AutoConfiguration(before = IdempotencyAutoConfiguration.class,
		afterName = "org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration")
@ConditionalOnBooleanProperty(name = "idempotent.enabled", matchIfMissing = true)
final class InMemoryIdempotencyAutoConfiguration {

	@Bean
	@ConditionalOnMissingBean(IdempotencyStore.class)
	InMemoryIdempotencyStore inMemoryIdempotencyStore() {
		return new InMemoryIdempotencyStore();
	}

	@Bean
	@ConditionalOnMissingBean({ IdempotencyTransactionSource.class, DataSource.class })
	InMemoryTransactions inMemoryIdempotencyTransactions(IdempotencyStore store) {
		return new InMemoryTransactions(store);
	}

}
