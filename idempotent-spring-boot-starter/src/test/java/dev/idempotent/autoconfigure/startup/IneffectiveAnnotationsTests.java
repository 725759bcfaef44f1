package dev.idempotent.autoconfigure.startup;

import java.util.Objects;

import dev.idempotent.IdempotentConfigurationException;
import dev.idempotent.autoconfigure.idempotency.ImportHandlers;
import dev.idempotent.autoconfigure.idempotency.ImportMethods;
import dev.idempotent.autoconfigure.outbox.ImportOutbox;
import dev.idempotent.autoconfigure.saga.ImportSagas;
import dev.idempotent.autoconfigure.stream.ImportStreams;
import dev.idempotent.testing.ClassPathWithout;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.jackson.autoconfigure.JacksonAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration;
import org.springframework.boot.test.context.assertj.AssertableWebApplicationContext;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.boot.transaction.autoconfigure.TransactionAutoConfiguration;
import org.springframework.boot.webmvc.autoconfigure.WebMvcAutoConfiguration;
import org.springframework.context.annotation.Configuration;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Annotations without effect stop the application, unless it has disabled their feature.
 */
@ExtendWith(OutputCaptureExtension.class)
class IneffectiveAnnotationsTests {

	private static final String JACKSON = "tools.jackson";

	@ParameterizedTest
	@CsvSource(delimiter = '|',
			textBlock = """
					Method    | tools.jackson                        | @Idempotent method           | JsonMapper             | spring-boot-starter-jackson   | idempotent.enabled
					Method    | org.springframework.transaction      | @Idempotent method           | TransactionInterceptor | org.springframework:spring-tx | idempotent.enabled
					Handler   | tools.jackson                        | @Idempotent method           | JsonMapper             | -jackson                      | idempotent.enabled
					Handler   | org.springframework.web.servlet      | @Idempotent method           | RequestMappingHandlerMapping | Add spring-boot-starter-webmvc | idempotent.enabled
					Event     | tools.jackson                        | @TransactionalOutbox method  | JsonMapper             | spring-boot-starter-jackson   | idempotent.outbox.enabled
					Event     | org.springframework.transaction      | @TransactionalOutbox method  | TransactionInterceptor | -jdbc or -data-jpa            | idempotent.outbox.enabled
					Event     | org.springframework.jdbc             | @TransactionalOutbox method  | ConnectionHolder       | -jdbc or -data-jpa            | idempotent.outbox.enabled
					Listener  | org.springframework.data.redis       | @RedisStreamListener method  | RedisConnectionFactory | Add spring-boot-starter-data-redis | idempotent.stream.enabled
					Listener  | org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails | @RedisStreamListener method  | DataRedisConnectionDetails | Add spring-boot-starter-data-redis | idempotent.stream.enabled
					""")
	void stopTheApplicationWithoutARequiredLibrary(String bean, String missing, String annotation, String type,
			String action, String property) {
		String method = AnnotatedBeans.class.getName() + "$" + bean + ".run()";
		start(bean, missing).run((context) -> {
			assertMistake(context,
					"The " + annotation + " " + method
							+ " would have no effect: @ConditionalOnClass did not find required class",
					action, property + "=false");
			assertThat(context.getStartupFailure()).hasMessageContaining("." + type + "'");
		});
	}

	/**
	 * A saga must not be half done, so it cannot be disabled either.
	 */
	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			tools.jackson                   | a=b                           | @ConditionalOnClass did not find
			org.springframework.transaction | a=b                           | @ConditionalOnClass did not find
			org.springframework.jdbc        | a=b                           | @ConditionalOnClass did not find
			unknown                         | idempotent.saga.enabled=false | idempotent.saga.enabled is false.
			unknown                         | idempotent.enabled=off        | idempotent.enabled is false.
			""")
	void stopTheApplicationIfASagaWouldNotBeOne(String missing, String property, String reason) {
		start("Undertaking", missing).withPropertyValues(property)
			.run((context) -> assertMistake(context, "would have no effect: " + reason, ", or remove the annotation."));
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '"',
			textBlock = """
					TwoServers     | (types: org.springframework.data.redis.connection.RedisConnectionFactory; SearchStrategy: all) found multiple beans 'first', 'second' | as @Primary
					NoDatabase     | (types: javax.sql.DataSource; SearchStrategy: all) did not find any beans        | spring.datasource.*
					NoSagaDatabase | (types: javax.sql.DataSource; SearchStrategy: all) did not find any beans        | spring.datasource.*
					TwoDatabases   | (types: javax.sql.DataSource; SearchStrategy: all) found multiple beans 'first', 'second' | as @Primary
					""")
	void stopTheApplicationWithoutARequiredBean(String beans, String reason, String action) {
		start(beans, "unknown")
			.withPropertyValues(beans.startsWith("No") ? "spring.autoconfigure.exclude="
					+ "org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration" : "a=b")
			.run((context) -> assertMistake(context, reason, action, ", or "));
	}

	@ParameterizedTest
	@CsvSource({ "Composed", "OfInterface", "ByInterface", "LazyBean", "Scoped", "Product", "Inherited", "Hidden" })
	void areFoundOnBeansOfAnyKind(String beans) {
		start(beans, JACKSON).run((context) -> assertMistake(context, "JsonMapper", "spring-boot-starter-jackson"));
	}

	@ParameterizedTest
	@CsvSource({ "Method, idempotent.enabled, @Idempotent", "Event, idempotent.outbox.enabled, @TransactionalOutbox",
			"Listener, idempotent.stream.enabled, @RedisStreamListener" })
	void areLoggedOnceIfTheirFeatureIsDisabled(String bean, String property, String annotation, CapturedOutput output) {
		start(bean, JACKSON).withPropertyValues("idempotent.outbox.initialize-schema=always", property + "=false")
			.run((context) -> assertThat(context).hasNotFailed());
		assertThat(output).containsOnlyOnce(annotation + " has no effect on 1 method, because " + property
				+ " is false. Remove the property to enable it");
	}

	@Test
	void areNotLoggedWithoutAnnotatedMethods(CapturedOutput output) {
		start("Nothing", JACKSON).withPropertyValues("idempotent.enabled=false")
			.run((context) -> assertThat(context).hasNotFailed());
		assertThat(output).doesNotContain("has no effect");
	}

	@ParameterizedTest
	@CsvSource({ "dev.idempotent.autoconfigure.idempotency.IdempotencyMethodAutoConfiguration" })
	void stopTheApplicationWithoutTheirAutoConfiguration(String excluded) {
		start("Method", "unknown").withPropertyValues("spring.autoconfigure.exclude=" + excluded)
			.run((context) -> assertMistake(context, "is excluded, or its conditions are not met",
					"idempotent.enabled"));
	}

	private static void assertMistake(AssertableWebApplicationContext context, String mistake, String... actions) {
		Throwable failure = Objects.requireNonNull(context.getStartupFailure());
		assertThat(failure).hasMessageContaining(mistake);
		// Loaded again, without some libraries.
		assertThat(failure.getClass().getName()).isEqualTo(IdempotentConfigurationException.class.getName());
		assertThat(failure).extracting("action").asString().contains(actions);
	}

	private static WebApplicationContextRunner start(String beans, String... missing) {
		ClassPathWithout classPath = new ClassPathWithout(missing);
		try {
			return new WebApplicationContextRunner().withClassLoader(classPath)
				.withPropertyValues("idempotent.namespace=shop", "spring.datasource.generate-unique-name=true")
				.withUserConfiguration(classPath.loadClass(Application.class.getName()),
						classPath.loadClass(AnnotatedBeans.class.getName() + "$" + beans));
		}
		catch (ClassNotFoundException ex) {
			throw new IllegalStateException(ex);
		}
	}

	@Configuration(proxyBeanMethods = false)
	@ImportAutoConfiguration({ DataRedisAutoConfiguration.class, DataSourceAutoConfiguration.class,
			DataSourceTransactionManagerAutoConfiguration.class, JacksonAutoConfiguration.class,
			TransactionAutoConfiguration.class, WebMvcAutoConfiguration.class, StartupCheckAutoConfiguration.class })
	@ImportMethods
	@ImportHandlers
	@ImportStreams
	@ImportOutbox
	@ImportSagas
	static class Application {

	}

}
