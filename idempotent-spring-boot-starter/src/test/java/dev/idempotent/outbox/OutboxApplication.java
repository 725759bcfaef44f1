package dev.idempotent.outbox;

import java.util.ArrayList;
import java.util.List;

import dev.idempotent.autoconfigure.outbox.ImportOutbox;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.jackson.autoconfigure.JacksonAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.JdbcClientAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.JdbcTemplateAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.transaction.autoconfigure.TransactionAutoConfiguration;
import org.springframework.boot.transaction.autoconfigure.TransactionManagerCustomizationAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

/**
 * Applications with an outbox, a broker in memory and the configuration of a test.
 * Without further properties, their database is H2.
 */
public final class OutboxApplication {

	private static final List<String> PROPERTIES = List.of("idempotent.namespace=shop", "spring.application.name=shop",
			"spring.datasource.generate-unique-name=true", "spring.main.banner-mode=off",
			"idempotent.outbox.initialize-schema=always",
			"idempotent.outbox.default-topic=" + RecordingPublisher.TOPIC);

	private OutboxApplication() {
	}

	/**
	 * An application for short checks.
	 */
	public static ApplicationContextRunner with(Class<?>... configurations) {
		return new ApplicationContextRunner().withPropertyValues(PROPERTIES.toArray(String[]::new))
			.withConfiguration(
					AutoConfigurations.of(Libraries.class.getAnnotation(ImportAutoConfiguration.class).value()))
			.withConfiguration(
					AutoConfigurations.of(ImportOutbox.class.getAnnotation(ImportAutoConfiguration.class).value()))
			.withUserConfiguration(Broker.class)
			.withUserConfiguration(configurations);
	}

	/**
	 * An application that runs until it is closed.
	 */
	public static ConfigurableApplicationContext start(List<String> properties, Class<?>... configurations) {
		List<String> all = new ArrayList<>(PROPERTIES);
		all.addAll(properties);
		return new SpringApplicationBuilder(Libraries.class).sources(configurations)
			.web(WebApplicationType.NONE)
			.properties(all.toArray(String[]::new))
			.run();
	}

	@Configuration(proxyBeanMethods = false)
	@Import(Broker.class)
	@ImportAutoConfiguration({ AopAutoConfiguration.class, DataSourceAutoConfiguration.class,
			DataSourceTransactionManagerAutoConfiguration.class, JacksonAutoConfiguration.class,
			JdbcTemplateAutoConfiguration.class, JdbcClientAutoConfiguration.class, TransactionAutoConfiguration.class,
			TransactionManagerCustomizationAutoConfiguration.class })
	@ImportOutbox
	static class Libraries {

	}

	/**
	 * Uses the outbox, which is off otherwise.
	 */
	record Appender(@Nullable Outbox outbox) {

	}

	@Configuration(proxyBeanMethods = false)
	static class Broker {

		@Bean
		RecordingPublisher publisher() {
			return new RecordingPublisher();
		}

		@Bean
		Appender appender(ObjectProvider<Outbox> outbox) {
			return new Appender(outbox.getIfAvailable());
		}

	}

}
