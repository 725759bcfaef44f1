package dev.idempotent.autoconfigure.outbox;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.InstantSource;
import java.util.concurrent.atomic.AtomicInteger;

import dev.idempotent.autoconfigure.idempotency.IdempotencyAutoConfiguration;
import dev.idempotent.autoconfigure.idempotency.ImportMethods;
import dev.idempotent.autoconfigure.actuate.ImportOperations;
import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.outbox.RecordingPublisher;
import dev.idempotent.test.InMemoryIdempotencyStore;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import org.h2.jdbcx.JdbcDataSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.jackson.autoconfigure.JacksonAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.transaction.autoconfigure.TransactionAutoConfiguration;
import org.springframework.boot.transaction.autoconfigure.TransactionManagerCustomizationAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.transaction.annotation.Transactional;

/**
 * An application with an idempotent method, a database and an outbox that nothing uses.
 */
final class OnDemandApplication {

	private static final AtomicInteger DATABASES = new AtomicInteger();

	private OnDemandApplication() {
	}

	static ApplicationContextRunner with(Class<?>... configurations) {
		return new ApplicationContextRunner()
			.withPropertyValues("idempotent.namespace=shop",
					"idempotent.outbox.default-topic=" + RecordingPublisher.TOPIC)
			.withConfiguration(AutoConfigurations.of(AopAutoConfiguration.class,
					DataSourceTransactionManagerAutoConfiguration.class, JacksonAutoConfiguration.class,
					TransactionAutoConfiguration.class, TransactionManagerCustomizationAutoConfiguration.class,
					IdempotencyAutoConfiguration.class, ImportMethods.CLASS, OutboxAutoConfiguration.class,
					OutboxMethodAutoConfiguration.class, ImportOperations.OUTBOX))
			.withUserConfiguration(Libraries.class)
			.withUserConfiguration(configurations);
	}

	@Configuration(proxyBeanMethods = false)
	static class Libraries {

		@Bean
		CountingDataSource dataSource() {
			JdbcDataSource h2 = new JdbcDataSource();
			h2.setURL("jdbc:h2:mem:on-demand-" + DATABASES.incrementAndGet() + ";DB_CLOSE_DELAY=-1");
			return new CountingDataSource(h2);
		}

		@Bean
		InMemoryIdempotencyStore store() {
			return new InMemoryIdempotencyStore(InstantSource.system());
		}

		@Bean
		RecordingPublisher publisher() {
			return new RecordingPublisher();
		}

		@Bean
		MeterRegistry registry() {
			return new SimpleMeterRegistry();
		}

		@Bean
		Payments payments() {
			return new Payments();
		}

	}

	static class Payments {

		@Transactional
		@Idempotent(key = "#id", name = "payments.pay", ignore = "work")
		public void pay(String id, Runnable work) {
			work.run();
		}

	}

	/**
	 * Counts the connections that are taken.
	 */
	static final class CountingDataSource extends DelegatingDataSource {

		private final AtomicInteger connections = new AtomicInteger();

		CountingDataSource(JdbcDataSource target) {
			super(target);
		}

		@Override
		public Connection getConnection() throws SQLException {
			this.connections.incrementAndGet();
			return super.getConnection();
		}

		int connections() {
			return this.connections.get();
		}

	}

}
