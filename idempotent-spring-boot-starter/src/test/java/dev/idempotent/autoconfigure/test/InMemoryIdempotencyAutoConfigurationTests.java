package dev.idempotent.autoconfigure.test;

import dev.idempotent.autoconfigure.idempotency.IdempotencyAutoConfiguration;
import dev.idempotent.idempotency.IdempotencyStore;
import dev.idempotent.idempotency.engine.IdempotencyTransactions.IdempotencyTransactionSource;
import dev.idempotent.idempotency.jdbc.JdbcTransactionSource;
import dev.idempotent.test.InMemoryIdempotencyStore;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link InMemoryIdempotencyAutoConfiguration}.
 */
class InMemoryIdempotencyAutoConfigurationTests {

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withPropertyValues("idempotent.namespace=test", "spring.datasource.generate-unique-name=true")
		.withConfiguration(
				AutoConfigurations.of(IdempotencyAutoConfiguration.class, InMemoryIdempotencyAutoConfiguration.class));

	@Test
	void replacesRedis() {
		this.runner.withConfiguration(AutoConfigurations.of(DataRedisAutoConfiguration.class))
			.withPropertyValues("idempotent.store=redis")
			.run((context) -> assertThat(context).getBean(IdempotencyStore.class)
				.isInstanceOf(InMemoryIdempotencyStore.class));
	}

	@Test
	void leavesTransactionsToTheDatabaseIfThereIsOne() {
		this.runner
			.withConfiguration(AutoConfigurations.of(DataSourceAutoConfiguration.class,
					DataSourceTransactionManagerAutoConfiguration.class))
			.run((context) -> {
				assertThat(context).getBean(IdempotencyStore.class).isInstanceOf(InMemoryIdempotencyStore.class);
				assertThat(context).getBean(IdempotencyTransactionSource.class)
					.isInstanceOf(JdbcTransactionSource.class);
			});
	}

	@Test
	void leavesAStoreOfTheTestInPlace() {
		IdempotencyStore own = new InMemoryIdempotencyStore();
		this.runner.withBean("own", IdempotencyStore.class, () -> own)
			.run((context) -> assertThat(context).getBean(IdempotencyStore.class).isSameAs(own));
	}

	@Test
	void isOffTogetherWithIdempotency() {
		this.runner.withPropertyValues("idempotent.enabled=false")
			.run((context) -> assertThat(context).doesNotHaveBean(IdempotencyStore.class));
	}

}
