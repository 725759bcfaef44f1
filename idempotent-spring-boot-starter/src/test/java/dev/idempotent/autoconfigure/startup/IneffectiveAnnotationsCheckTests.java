package dev.idempotent.autoconfigure.startup;

import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.reflect.Proxy;
import java.util.Objects;

import javax.sql.DataSource;

import dev.idempotent.IdempotentConfigurationException;
import dev.idempotent.autoconfigure.idempotency.ImportHandlers;
import dev.idempotent.autoconfigure.idempotency.ImportMethods;
import dev.idempotent.autoconfigure.outbox.ImportOutbox;
import dev.idempotent.autoconfigure.saga.ImportSagas;
import dev.idempotent.autoconfigure.stream.ImportStreams;
import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.outbox.TransactionalOutbox;
import dev.idempotent.saga.Saga;
import dev.idempotent.stream.RedisStreamListener;
import dev.idempotent.testing.ClassPathWithout;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.jackson.autoconfigure.JacksonAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration;
import org.springframework.boot.test.context.assertj.AssertableWebApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.boot.transaction.autoconfigure.TransactionAutoConfiguration;
import org.springframework.boot.webmvc.autoconfigure.WebMvcAutoConfiguration;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Lazy;
import org.springframework.context.annotation.Scope;
import org.springframework.context.annotation.ScopedProxyMode;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.InstanceOfAssertFactories.throwable;

/**
 * Annotations without effect stop the application, unless it has disabled their feature.
 */
@ExtendWith(OutputCaptureExtension.class)
class IneffectiveAnnotationsCheckTests {

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

	/**
	 * Annotated beans of a parent context, to which the advice of its child does not
	 * apply.
	 */
	@Nested
	class OfParentContexts {

		private final WebApplicationContextRunner application = new WebApplicationContextRunner()
			.withPropertyValues("idempotent.namespace=shop", "spring.datasource.generate-unique-name=true")
			.withUserConfiguration(ChildApplication.class);

		@ParameterizedTest
		@CsvSource({ "Method, @Idempotent, idempotent.enabled",
				"Event, @TransactionalOutbox, idempotent.outbox.enabled",
				"Listener, @RedisStreamListener, idempotent.stream.enabled" })
		void stopsTheApplicationBecauseOfAnAnnotation(String bean, String annotation, String property)
				throws ClassNotFoundException {
			Class<?> type = Class.forName(AnnotatedBeans.class.getName() + "$" + bean);
			try (var top = new AnnotationConfigApplicationContext(type);
					var middle = new AnnotationConfigApplicationContext()) {
				middle.setParent(top);
				middle.refresh();
				top.setDisplayName("services");
				this.application.withParent(middle)
					.run((context) -> assertThat(context).getFailure()
						.isInstanceOf(IdempotentConfigurationException.class)
						.hasMessageContainingAll("The " + annotation + " method " + type.getName() + ".run() ",
								"is in the parent context 'services'")
						.asInstanceOf(throwable(IdempotentConfigurationException.class))
						.extracting(IdempotentConfigurationException::getAction)
						.asString()
						.contains("@EnableAutoConfiguration", property + "=false"));
				this.application.withParent(middle)
					.withPropertyValues(property + "=false")
					.run((context) -> assertThat(context).hasNotFailed());
			}
		}

		@Test
		void ignoresHandlersThatNoServletServes() {
			try (var parent = new AnnotationConfigApplicationContext(AnnotatedBeans.Handler.class)) {
				this.application.withParent(parent).run((context) -> assertThat(context).hasNotFailed());
			}
		}

		@Test
		void ignoresAParentWithTheAutoConfiguration() {
			new ApplicationContextRunner()
				.withPropertyValues("idempotent.namespace=shop", "spring.datasource.generate-unique-name=true")
				.withUserConfiguration(ChildApplication.class, AnnotatedBeans.Method.class)
				.run((parent) -> this.application.withParent(parent.getSourceApplicationContext())
					.run((context) -> assertThat(context).hasNotFailed()));
		}

		@Configuration(proxyBeanMethods = false)
		@EnableAutoConfiguration
		static class ChildApplication {

		}

	}

	/**
	 * Beans with annotations that may have no effect.
	 */
	static final class AnnotatedBeans {

		private AnnotatedBeans() {
		}

		static class Nothing {

		}

		static class Method {

			@Idempotent(key = "'key'", name = "method.run")
			void run() {
			}

		}

		@RestController
		static class Handler {

			@Idempotent
			@PostMapping("/run")
			void run() {
			}

		}

		static class Event {

			@TransactionalOutbox(type = "ran", topic = "test:events")
			String run() {
				return "ran";
			}

		}

		static class Listener {

			@RedisStreamListener(stream = "runs", group = "test")
			void run() {
			}

		}

		static class Undertaking {

			@Saga(key = "'key'", name = "Undertaking.run")
			void run() {
			}

		}

		@Configuration(proxyBeanMethods = false)
		@Import(Undertaking.class)
		static class NoSagaDatabase {

		}

		@Configuration(proxyBeanMethods = false)
		@Import(Listener.class)
		static class TwoServers {

			@Bean
			RedisConnectionFactory first() {
				return new LettuceConnectionFactory();
			}

			@Bean
			RedisConnectionFactory second() {
				return new LettuceConnectionFactory();
			}

		}

		@Configuration(proxyBeanMethods = false)
		@Import(Event.class)
		static class NoDatabase {

		}

		@Configuration(proxyBeanMethods = false)
		@Import(Event.class)
		static class TwoDatabases {

			@Bean
			DataSource first() {
				return new DriverManagerDataSource("jdbc:h2:mem:first");
			}

			@Bean
			DataSource second() {
				return new DriverManagerDataSource("jdbc:h2:mem:second");
			}

		}

		@Retention(RetentionPolicy.RUNTIME)
		@Idempotent(key = "'key'", name = "once")
		@interface Once {

		}

		static class Composed {

			@Once
			void run() {
			}

		}

		interface Job {

			@Idempotent(key = "'key'", name = "job.run")
			void run();

		}

		static class OfInterface implements Job {

			@Override
			public void run() {
			}

		}

		static class Inherited extends Method {

		}

		static class Hidden {

			@Idempotent(key = "'key'", name = "hidden.run")
			private void run() {
			}

			void call() {
				run();
			}

		}

		@Configuration(proxyBeanMethods = false)
		static class ByInterface {

			@Bean
			Runnable job() {
				return new AnnotatedRunnable();
			}

		}

		static class AnnotatedRunnable implements Runnable {

			@Idempotent(key = "'key'", name = "annotated-runnable.run")
			@Override
			public void run() {
			}

		}

		@Lazy
		static class LazyBean {

			LazyBean() {
				throw new IllegalStateException("Not to be created");
			}

			@Idempotent(key = "'key'", name = "lazy-bean.run")
			void run() {
			}

		}

		@Configuration(proxyBeanMethods = false)
		static class Scoped {

			@Bean
			@Scope(scopeName = "request", proxyMode = ScopedProxyMode.TARGET_CLASS)
			Method job() {
				return new Method();
			}

		}

		@Configuration(proxyBeanMethods = false)
		static class Product {

			@Bean
			FactoryBean<?> job() {
				return new Jobs();
			}

		}

		static class Jobs implements FactoryBean<Object> {

			@Override
			public Object getObject() {
				return Proxy.newProxyInstance(Job.class.getClassLoader(), new Class<?>[] { Job.class },
						(proxy, method, arguments) -> null);
			}

			@Override
			public Class<?> getObjectType() {
				return Job.class;
			}

		}

	}

}
