package dev.idempotent.autoconfigure.idempotency;

import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;

import javax.sql.DataSource;

import dev.idempotent.IdempotentConfigurationException;
import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.jdbc.DatabaseRequirementsTests;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.boot.transaction.autoconfigure.TransactionAutoConfiguration;
import org.springframework.boot.webmvc.autoconfigure.WebMvcAutoConfiguration;
import org.springframework.http.ResponseEntity;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.AbstractPlatformTransactionManager;
import org.springframework.transaction.support.DefaultTransactionStatus;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.servlet.mvc.method.annotation.SseEmitter;
import org.springframework.web.servlet.mvc.method.annotation.StreamingResponseBody;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Where {@code Guarantee.TRANSACTION} cannot hold, the application does not start.
 */
class TransactionMistakesTests {

	private final WebApplicationContextRunner application = new WebApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(WebMvcAutoConfiguration.class, DataRedisAutoConfiguration.class,
				IdempotencyAutoConfiguration.class, IdempotencyWebAutoConfiguration.class))
		.withPropertyValues("idempotent.namespace=shop");

	private final WebApplicationContextRunner withDatabase = this.application
		.withConfiguration(AutoConfigurations.of(DataSourceAutoConfiguration.class,
				DataSourceTransactionManagerAutoConfiguration.class, TransactionAutoConfiguration.class))
		.withPropertyValues("spring.datasource.generate-unique-name=true");

	@Test
	void itNeedsADatabase() {
		assertStops(this.application, InvalidHandlers.Plain.class, "no DataSource", "spring-boot-starter-jdbc");
	}

	@Test
	void itNeedsATable() {
		assertStops(this.withDatabase.withPropertyValues("idempotent.jdbc.initialize-schema=never"),
				InvalidHandlers.Plain.class, "no table idempotency_record", "idempotent.jdbc.initialize-schema=always");
	}

	@Test
	void itHoldsWithATableOfAnotherName() {
		this.withDatabase.withPropertyValues("idempotent.jdbc.table=public.shop_keys")
			.withUserConfiguration(InvalidHandlers.Plain.class)
			.run((context) -> assertThat(context).hasNotFailed());
	}

	@Test
	void itNeedsATransactionManager() {
		assertStops(this.application.withConfiguration(AutoConfigurations.of(DataSourceAutoConfiguration.class)),
				InvalidHandlers.Plain.class, "no transaction manager", "idempotent.jdbc.transaction-manager");
	}

	@Test
	void itNeedsToKnowWhichTransactionManager() {
		WebApplicationContextRunner several = this.withDatabase
			.withBean("second", JdbcTransactionManager.class, TransactionMistakesTests::further)
			.withBean("third", JdbcTransactionManager.class, TransactionMistakesTests::further);
		assertStops(several, InvalidHandlers.Plain.class, "several without a primary one",
				"idempotent.jdbc.transaction-manager");
		assertStops(several.withPropertyValues("idempotent.jdbc.transaction-manager=fourth"),
				InvalidHandlers.Plain.class, "'fourth'", "idempotent.jdbc.transaction-manager");
	}

	@Test
	void itNeedsAManagerOfTheDatabase() {
		assertStops(
				this.withDatabase.withBean("transactionManager", InvalidHandlers.NoDatabase.class,
						InvalidHandlers.NoDatabase::new),
				InvalidHandlers.Plain.class, "does not work on the application's DataSource", "@Primary");
	}

	@Test
	void itNeedsOneDatabase() {
		WebApplicationContextRunner byTenant = this.application
			.withBean(DataSource.class, DatabaseRequirementsTests.ByTenant::new)
			.withConfiguration(AutoConfigurations.of(DataSourceTransactionManagerAutoConfiguration.class));
		assertStops(byTenant, InvalidHandlers.Plain.class, "ByTenant routes to several databases",
				"LazyConnectionDataSourceProxy");
		assertStops(byTenant.withPropertyValues("idempotent.store=jdbc"), InvalidHandlers.UnderLease.class,
				"ByTenant routes to several databases", "Redis");
		byTenant.withUserConfiguration(InvalidHandlers.UnderLease.class)
			.run((context) -> assertThat(context).hasNotFailed());
	}

	@ParameterizedTest
	@ValueSource(classes = { InvalidHandlers.Future.class, InvalidHandlers.Call.class, InvalidHandlers.Event.class,
			InvalidHandlers.Entity.class })
	void itNeedsAnAnswerWhenTheMethodReturns(Class<?> handler) {
		assertStops(this.withDatabase, handler, "responds asynchronously", "Guarantee.LEASE");
	}

	@Test
	void itNeedsATransactionThatWrites() {
		assertStops(this.withDatabase, InvalidHandlers.ReadOnly.class, "readOnly = true", "Guarantee.LEASE");
	}

	@Test
	void itNeedsAMethodThatJoinsItsTransaction() {
		assertStops(this.withDatabase, InvalidHandlers.Apart.class, "propagation", "Guarantee.LEASE");
	}

	@Test
	void itMayBeTheDefault() {
		assertStops(this.withDatabase.withPropertyValues("idempotent.guarantee=transaction"),
				InvalidHandlers.ByDefault.class, "responds asynchronously", "Guarantee.LEASE");
		assertStops(this.application.withPropertyValues("idempotent.guarantee=transaction"),
				InvalidHandlers.UnderLease.class,
				"has Guarantee.TRANSACTION (from its annotation or idempotent.guarantee), and",
				"spring-boot-starter-jdbc");
	}

	@Test
	void itHoldsForHandlersThatNeedAKeyByARule() {
		WebApplicationContextRunner ruled = this.withDatabase.withPropertyValues("idempotent.guarantee=transaction",
				"idempotent.web.required-for=POST /plain/**");
		assertStops(ruled, InvalidHandlers.WithoutAnnotation.class, "responds asynchronously", "Guarantee.LEASE");
	}

	@Test
	void itDoesNotNeedADatabaseThatAnswersAtOnce() {
		this.application
			.withBean(DataSource.class, () -> new DriverManagerDataSource("jdbc:postgresql://127.0.0.1:1/none"))
			.withConfiguration(AutoConfigurations.of(DataSourceTransactionManagerAutoConfiguration.class))
			.withUserConfiguration(InvalidHandlers.Plain.class)
			.run((context) -> assertThat(context).hasNotFailed());
	}

	private static void assertStops(WebApplicationContextRunner application, Class<?> handler, String mistake,
			String action) {
		application.withUserConfiguration(handler).run((context) -> {
			IdempotentConfigurationException found = mistakeIn(context.getStartupFailure());
			assertThat(found).hasMessageContaining(mistake);
			assertThat(found.getAction()).contains(action);
		});
	}

	private static IdempotentConfigurationException mistakeIn(@Nullable Throwable failure) {
		for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
			if (cause instanceof IdempotentConfigurationException found) {
				return found;
			}
		}
		throw new AssertionError("The application has started, or failed for another reason", failure);
	}

	private static JdbcTransactionManager further() {
		return new JdbcTransactionManager(new DriverManagerDataSource("jdbc:h2:mem:further"));
	}

	/**
	 * Handlers for which {@code Guarantee.TRANSACTION} cannot hold, and one that can have
	 * it.
	 */
	static final class InvalidHandlers {

		private InvalidHandlers() {
		}

		/**
		 * Opens transactions on nothing at all.
		 */
		static class NoDatabase extends AbstractPlatformTransactionManager {

			@Override
			protected Object doGetTransaction() {
				return this;
			}

			@Override
			protected void doBegin(Object transaction, TransactionDefinition definition) {
			}

			@Override
			protected void doCommit(DefaultTransactionStatus status) {
			}

			@Override
			protected void doRollback(DefaultTransactionStatus status) {
			}

		}

		@RestController
		static class UnderLease {

			@Idempotent
			@PostMapping("/under-lease")
			void run() {
			}

		}

		@RestController
		static class Plain {

			@Idempotent(guarantee = Guarantee.TRANSACTION)
			@PostMapping("/plain")
			void run() {
			}

		}

		@RestController
		static class ByDefault {

			@Idempotent
			@PostMapping("/default")
			CompletableFuture<String> run() {
				return CompletableFuture.completedFuture("");
			}

		}

		@RestController
		static class WithoutAnnotation {

			@PostMapping("/plain/{id}")
			CompletableFuture<String> run() {
				return CompletableFuture.completedFuture("");
			}

		}

		@RestController
		static class Future {

			@Idempotent(guarantee = Guarantee.TRANSACTION)
			@PostMapping("/future")
			CompletableFuture<String> run() {
				return CompletableFuture.completedFuture("");
			}

		}

		@RestController
		static class Call {

			@Idempotent(guarantee = Guarantee.TRANSACTION)
			@PostMapping("/call")
			Callable<String> run() {
				return () -> "";
			}

		}

		@RestController
		static class Event {

			@Idempotent(guarantee = Guarantee.TRANSACTION)
			@PostMapping("/event")
			SseEmitter run() {
				return new SseEmitter();
			}

		}

		@RestController
		static class Entity {

			@Idempotent(guarantee = Guarantee.TRANSACTION)
			@PostMapping("/entity")
			ResponseEntity<StreamingResponseBody> run() {
				return ResponseEntity.ok().build();
			}

		}

		@RestController
		static class ReadOnly {

			@Idempotent(guarantee = Guarantee.TRANSACTION)
			@Transactional(readOnly = true)
			@PostMapping("/read-only")
			void run() {
			}

		}

		@RestController
		static class Apart {

			@Idempotent(guarantee = Guarantee.TRANSACTION)
			@Transactional(propagation = Propagation.REQUIRES_NEW)
			@PostMapping("/apart")
			void run() {
			}

		}

	}

}
