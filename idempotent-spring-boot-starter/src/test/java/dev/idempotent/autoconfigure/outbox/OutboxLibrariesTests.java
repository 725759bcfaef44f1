package dev.idempotent.autoconfigure.outbox;

import java.util.concurrent.Callable;

import javax.sql.DataSource;

import dev.idempotent.autoconfigure.actuate.ImportOperations;
import dev.idempotent.outbox.Outbox;
import dev.idempotent.outbox.OutboxEvent;
import dev.idempotent.outbox.RecordingPublisher;
import dev.idempotent.testing.ClassPathWithout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.transaction.autoconfigure.TransactionManagerCustomizationAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for the outbox where a library that could watch it is not on the class path.
 */
class OutboxLibrariesTests {

	@ParameterizedTest
	@CsvSource({ "org.springframework.boot.actuate, outboxEndpoint",
			"org.springframework.boot.health, outboxHealthIndicator", "io.micrometer.core, outboxMetrics",
			"io.micrometer.tracing, outboxTraceHeaders" })
	void keepsAnOutboxWithoutWhatWouldWatchIt(String missing, String bean) throws ClassNotFoundException {
		ClassPathWithout classPath = new ClassPathWithout(missing);
		new ApplicationContextRunner().withClassLoader(classPath)
			.withPropertyValues("management.endpoints.web.exposure.include=outbox")
			.withUserConfiguration(classPath.loadClass(Application.class.getName()))
			.run((context) -> assertThat(context).hasNotFailed().hasBean("outboxDeadEvents").doesNotHaveBean(bean));
	}

	@ParameterizedTest
	@ValueSource(strings = { "org.hibernate", "org.springframework.orm" })
	void appendsOrderedEventsWithoutJpa(String missing) throws ClassNotFoundException {
		ClassPathWithout classPath = new ClassPathWithout(missing);
		new ApplicationContextRunner().withClassLoader(classPath)
			.withPropertyValues("idempotent.namespace=shop", "spring.datasource.generate-unique-name=true",
					"idempotent.outbox.initialize-schema=always", "idempotent.outbox.relay.enabled=false")
			.withUserConfiguration(classPath.loadClass(Appending.class.getName()))
			.run((context) -> assertThat(((Callable<?>) context.getBean("append")).call()).isEqualTo(1));
	}

	@Configuration(proxyBeanMethods = false)
	@ImportAutoConfiguration({ DataSourceAutoConfiguration.class, DataSourceTransactionManagerAutoConfiguration.class,
			TransactionManagerCustomizationAutoConfiguration.class, OutboxAutoConfiguration.class })
	static class Appending {

		/**
		 * Appends an event and counts the rows.
		 */
		@Bean
		Callable<Integer> append(PlatformTransactionManager transactions, Outbox outbox, DataSource dataSource) {
			return () -> {
				new TransactionTemplate(transactions).executeWithoutResult(
						(status) -> outbox.append(OutboxEvent.of("ordered", 1).toTopic("test:orders").withKey("key")));
				return new JdbcTemplate(dataSource).queryForObject("select count(*) from outbox_event", Integer.class);
			};
		}

		@Bean
		RecordingPublisher publisher() {
			return new RecordingPublisher();
		}

	}

	@Configuration(proxyBeanMethods = false)
	@ImportAutoConfiguration({ DataSourceAutoConfiguration.class, OutboxAutoConfiguration.class })
	@ImportOperations
	static class Application {

	}

}
