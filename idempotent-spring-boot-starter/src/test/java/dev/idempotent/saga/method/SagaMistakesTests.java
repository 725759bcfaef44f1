package dev.idempotent.saga.method;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

import javax.sql.DataSource;

import dev.idempotent.IdempotentConfigurationException;
import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.saga.Saga;
import dev.idempotent.saga.engine.SagaEngine;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.beans.factory.BeanCreationException;
import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Scope;
import org.springframework.context.annotation.ScopedProxyMode;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.stereotype.Controller;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.web.bind.annotation.PostMapping;
import reactor.core.publisher.Mono;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.junit.jupiter.params.provider.Arguments.arguments;

/**
 * Methods that cannot be sagas stop the application; the report names the method and what
 * to do.
 */
class SagaMistakesTests {

	private static final String ANOTHER_BEAN = "a method of another bean that Spring can proxy.";

	static Stream<Arguments> invalid() {
		return Stream.of(arguments(InvalidSagas.InTransaction.class, "is @Transactional, too", "runInTransaction"),
				arguments(InvalidSagas.OfTransactionalClass.class, "is @Transactional, too (itself or its class)",
						"runInTransaction"),
				arguments(InvalidSagas.Twofold.class, "is @Idempotent, too", "Remove @Idempotent"),
				arguments(InvalidSagas.Handler.class, "is a web handler", "of another bean"),
				arguments(InvalidSagas.Later.class, "returns java.util.concurrent.CompletableFuture", "Sagas.start"),
				arguments(InvalidSagas.Sometime.class, "returns java.util.concurrent.Future", "Sagas.start"),
				arguments(InvalidSagas.Reactive.class, "returns reactor.core.publisher.Mono", "Return a value"),
				arguments(InvalidSagas.Streaming.class, "returns java.util.stream.Stream", "a collection"),
				arguments(InvalidSagas.Counting.class, "the member 'count' of SagaMistakesTests$InvalidSagas$Counted",
						"such as a record"),
				arguments(InvalidSagas.UnknownVariable.class, "'#order.id': there is no variable #order, only #id",
						"attribute 'key'"),
				arguments(InvalidSagas.Blank.class, "has a blank name", "attribute 'name'"),
				arguments(InvalidSagas.NoDuration.class, "the timeout 'soon'", "10m"),
				arguments(InvalidSagas.NoTime.class, "the timeout '0s'", "10m"),
				arguments(InvalidSagas.FinalMethod.class, "is final", ANOTHER_BEAN),
				arguments(InvalidSagas.PrivateMethod.class, "is private or static", ANOTHER_BEAN),
				arguments(InvalidSagas.Prototype.class, "which is not a singleton", "a singleton bean"),
				arguments(InvalidSagas.Scoped.class, "which is not a singleton", "a singleton bean"),
				arguments(InvalidSagas.TwoBeans.class, "has the name 'Plain.place', as has", "declare one bean"),
				arguments(InvalidSagas.SameNames.class, "has the name 'Plain.place', as has", "attribute 'name'"));
	}

	@ParameterizedTest
	@MethodSource("invalid")
	void stopTheApplication(Class<?> beans, String problem, String action) {
		SagaApplication.with(beans).run((context) -> assertMistake(context, problem, action));
	}

	@Test
	void stopTheApplicationWithoutATransactionManager() {
		SagaApplication.with(InvalidSagas.Plain.class, TwoManagers.class)
			.run((context) -> assertMistake(context, "and there is no transaction manager, or several",
					"idempotent.jdbc.transaction-manager"));
		SagaApplication.with(InvalidSagas.Plain.class, TwoManagers.class)
			.withPropertyValues("idempotent.jdbc.transaction-manager=own")
			.run((context) -> assertThat(context).hasNotFailed().hasSingleBean(SagaEngine.class));
		SagaApplication.with(InvalidSagas.Plain.class, TwoManagers.class)
			.withPropertyValues("idempotent.jdbc.transaction-manager=third")
			.run((context) -> assertMistake(context, "there is not exactly one transaction manager 'third'",
					"idempotent.jdbc.transaction-manager"));
		SagaApplication.with(InvalidSagas.Plain.class, TwoManagers.class)
			.withPropertyValues("idempotent.jdbc.transaction-manager=foreign")
			.run((context) -> assertMistake(context, "does not work on the application's DataSource",
					"idempotent.jdbc.transaction-manager"));
	}

	@Test
	void stopTheApplicationWithoutTables() {
		SagaApplication.with(InvalidSagas.Plain.class)
			.withPropertyValues("idempotent.saga.initialize-schema=never")
			.run((context) -> assertMistake(context, "lacks the table saga_instance of sagas",
					"idempotent.saga.initialize-schema=always"));
	}

	@ParameterizedTest
	@CsvSource({ "idempotent.saga.enabled", "idempotent.enabled" })
	void stopTheApplicationWhereSagasAreDisabled(String property) {
		SagaApplication.with(InvalidSagas.Plain.class)
			.withPropertyValues(property + "=false")
			.run((context) -> assertMistake(context, "would have no effect: " + property + " is false.",
					"Remove the property, or remove the annotation."));
	}

	private static void assertMistake(AssertableApplicationContext context, String problem, String action) {
		assertThat(context).hasFailed();
		Throwable failure = context.getStartupFailure();
		while (failure != null && !(failure instanceof IdempotentConfigurationException)) {
			failure = failure.getCause();
		}
		assertThat(failure).as("%s", context.getStartupFailure())
			.isNotNull()
			.hasMessageContaining(problem)
			.extracting("action")
			.asString()
			.contains(action);
	}

	/**
	 * The start does not know their class.
	 */
	@Test
	void includeBeansThatAreCreatedLater() {
		SagaApplication.with()
			.withBean("late", Placing.class, FinalCheckout::new, (definition) -> definition.setLazyInit(true))
			.run((context) -> assertThatExceptionOfType(BeanCreationException.class)
				.isThrownBy(() -> context.getBean("late"))
				.havingRootCause()
				.isInstanceOf(IdempotentConfigurationException.class)
				.withMessageContainingAll("@Saga", "FinalCheckout.place", "belongs to a final class"));
		SagaApplication.with()
			.withBean("late", Placing.class, LateCheckout::new, (definition) -> definition.setLazyInit(true))
			.run((context) -> {
				Placing late = context.getBean(Placing.class);
				assertThatIllegalStateException().isThrownBy(() -> late.place("1"))
					.withMessageContainingAll("LateCheckout.place", "was not run", "@Bean method");
			});
	}

	interface Placing {

		void place(String id);

	}

	static final class FinalCheckout implements Placing {

		@Override
		@Saga(key = "#id", name = "final-checkout")
		public void place(String id) {
		}

	}

	static class LateCheckout implements Placing {

		@Override
		@Saga(key = "#id", name = "late-checkout")
		public void place(String id) {
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class TwoManagers {

		@Bean
		PlatformTransactionManager own(DataSource dataSource) {
			return new JdbcTransactionManager(dataSource);
		}

		@Bean
		PlatformTransactionManager foreign() {
			return new JdbcTransactionManager(new DriverManagerDataSource("jdbc:h2:mem:foreign"));
		}

	}

	/**
	 * Beans whose one annotated method, always {@code place}, cannot be a saga.
	 */
	static final class InvalidSagas {

		private InvalidSagas() {
		}

		static class InTransaction {

			@Transactional
			@Saga(key = "#id", name = "InTransaction.place")
			public void place(String id) {
			}

		}

		@Transactional
		static class OfTransactionalClass {

			@Saga(key = "#id", name = "OfTransactionalClass.place")
			public void place(String id) {
			}

		}

		static class Twofold {

			@Idempotent(key = "#id", name = "twofold.place")
			@Saga(key = "#id", name = "Twofold.place")
			public void place(String id) {
			}

		}

		@Controller
		static class Handler {

			@Saga(key = "#id", name = "Handler.place")
			@PostMapping("/orders")
			public void place(String id) {
			}

		}

		static class Later {

			@Saga(key = "#id", name = "Later.place")
			public CompletableFuture<String> place(String id) {
				return CompletableFuture.completedFuture(id);
			}

		}

		static class Sometime {

			@Saga(key = "#id", name = "Sometime.place")
			public Future<String> place(String id) {
				return CompletableFuture.completedFuture(id);
			}

		}

		static class Reactive {

			@Saga(key = "#id", name = "Reactive.place")
			public Mono<String> place(String id) {
				return Mono.just(id);
			}

		}

		static class Streaming {

			@Saga(key = "#id", name = "Streaming.place")
			public Stream<String> place(String id) {
				return Stream.of(id);
			}

		}

		record Counted(AtomicInteger count) {
		}

		static class Counting {

			@Saga(key = "#id", name = "Counting.place")
			public Counted place(String id) {
				return new Counted(new AtomicInteger(1));
			}

		}

		static class UnknownVariable {

			@Saga(key = "#order.id", name = "UnknownVariable.place")
			public void place(String id) {
			}

		}

		static class Blank {

			@Saga(key = "#id", name = " ")
			public void place(String id) {
			}

		}

		static class NoDuration {

			@Saga(key = "#id", timeout = "soon", name = "NoDuration.place")
			public void place(String id) {
			}

		}

		static class NoTime {

			@Saga(key = "#id", timeout = "0s", name = "NoTime.place")
			public void place(String id) {
			}

		}

		static class FinalMethod {

			@Saga(key = "#id", name = "FinalMethod.place")
			public final void place(String id) {
			}

		}

		static class PrivateMethod {

			public void call(String id) {
				String unused = place(id);
			}

			@Saga(key = "#id", name = "PrivateMethod.place")
			private String place(String id) {
				return id;
			}

		}

		@Scope(ConfigurableBeanFactory.SCOPE_PROTOTYPE)
		static class Prototype {

			@Saga(key = "#id", name = "Prototype.place")
			public void place(String id) {
			}

		}

		@Scope(scopeName = "prototype", proxyMode = ScopedProxyMode.TARGET_CLASS)
		static class Scoped {

			@Saga(key = "#id", name = "Scoped.place")
			public void place(String id) {
			}

		}

		static class Plain {

			@Saga(key = "#id", timeout = "${place.timeout:3s}", name = "Plain.place")
			public void place(String id) {
			}

		}

		@Configuration(proxyBeanMethods = false)
		static class TwoBeans {

			@Bean
			Plain one() {
				return new Plain();
			}

			@Bean
			Plain other() {
				return new Plain();
			}

		}

		static class Other {

			@Saga(key = "#id", name = "Plain.place")
			public void place(String id) {
			}

		}

		@Configuration(proxyBeanMethods = false)
		@Import({ Plain.class, Other.class })
		static class SameNames {

		}

	}

}
