package dev.idempotent.autoconfigure.outbox;

import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;

import javax.sql.DataSource;

import dev.idempotent.IdempotentConfigurationException;
import dev.idempotent.autoconfigure.actuate.ImportOperations;
import dev.idempotent.outbox.Outbox;
import dev.idempotent.outbox.OutboxApplication;
import dev.idempotent.outbox.OutboxEvent;
import dev.idempotent.outbox.PayloadWriter;
import dev.idempotent.outbox.RecordingPublisher;
import dev.idempotent.testing.ClassPathWithout;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.transaction.autoconfigure.TransactionManagerCustomizationAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Tests for {@link OutboxAutoConfiguration}.
 */
class OutboxAutoConfigurationTests {

	@ParameterizedTest
	@ValueSource(strings = { "never", "always" })
	void doesNotStartWhereEventsCouldBeAppendedButNotDelivered(String initialization) {
		OutboxApplication.with()
			.withPropertyValues("spring.datasource.generate-unique-name=false",
					"spring.datasource.url=jdbc:h2:mem:earlier-" + initialization
							+ ";INIT=create table if not exists outbox_event (id bigint)",
					"idempotent.outbox.initialize-schema=" + initialization)
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.isInstanceOf(IdempotentConfigurationException.class)
				.hasMessageContaining("outbox_control"));
	}

	@Test
	void takesTheEncodedNamespaceForItsSource() {
		assertThat(source("idempotent.namespace=my shop: 100% für alle"))
			.isEqualTo("/my%20shop:%20100%25%20f%C3%BCr%20alle");
		assertThat(source("idempotent.namespace=my shop", "idempotent.outbox.source=urn:shop")).isEqualTo("urn:shop");
	}

	@Test
	void writesPayloadsWithTheWriterOfTheApplication() {
		OutboxApplication.with(Writer.class)
			.withPropertyValues("idempotent.outbox.relay.enabled=false")
			.run((context) -> {
				Outbox outbox = context.getBean(Outbox.class);
				context.getBean(TransactionTemplate.class)
					.executeWithoutResult((status) -> outbox.append(OutboxEvent.of("order.created", Map.of())));
				assertThat(context.getBean(JdbcTemplate.class)
					.queryForObject("select payload from outbox_event", byte[].class)).asString()
					.isEqualTo("\"written by the application\"");
			});
	}

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

	private static String source(String... properties) {
		try (ConfigurableApplicationContext context = OutboxApplication.start(List.of(properties))) {
			new TransactionTemplate(context.getBean(PlatformTransactionManager.class)).executeWithoutResult(
					(status) -> context.getBean(Outbox.class).append(OutboxEvent.of("order.created", "payload")));
			RecordingPublisher publisher = context.getBean(RecordingPublisher.class);
			await().until(() -> publisher.published().size() == 1);
			return URI.create(publisher.published().get(0).headers().getOrDefault("ce_source", "")).toString();
		}
	}

	@Configuration(proxyBeanMethods = false)
	static class Writer {

		@Bean
		PayloadWriter payloadWriter() {
			return (payload) -> "\"written by the application\"".getBytes(StandardCharsets.UTF_8);
		}

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
