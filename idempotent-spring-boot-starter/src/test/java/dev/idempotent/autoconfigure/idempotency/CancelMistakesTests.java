package dev.idempotent.autoconfigure.idempotency;

import javax.sql.DataSource;

import dev.idempotent.IdempotentConfigurationException;
import dev.idempotent.autoconfigure.startup.ImportStartupCheck;
import dev.idempotent.idempotency.Cancels;
import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.idempotency.KeySource;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.jackson.autoconfigure.JacksonAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.boot.transaction.autoconfigure.TransactionAutoConfiguration;
import org.springframework.boot.webmvc.autoconfigure.WebMvcAutoConfiguration;
import org.springframework.context.annotation.Import;
import org.springframework.core.io.ClassPathResource;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.datasource.init.ResourceDatabasePopulator;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.stereotype.Component;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Where {@code @Cancels} cannot hold, the application does not start.
 */
class CancelMistakesTests {

	private static final AutoConfigurations AUTO = AutoConfigurations.of(WebMvcAutoConfiguration.class,
			DataRedisAutoConfiguration.class, JacksonAutoConfiguration.class, DataSourceAutoConfiguration.class,
			DataSourceTransactionManagerAutoConfiguration.class, TransactionAutoConfiguration.class,
			IdempotencyAutoConfiguration.class, IdempotencyMethodAutoConfiguration.class,
			IdempotencyWebAutoConfiguration.class, ImportStartupCheck.CLASS);

	private final WebApplicationContextRunner application = new WebApplicationContextRunner().withConfiguration(AUTO)
		.withPropertyValues("idempotent.namespace=shop", "spring.datasource.generate-unique-name=true");

	@ParameterizedTest
	@CsvSource(delimiter = '|',
			textBlock = """
					UnknownAction    | cancels 'unknown', and no @Idempotent web handler has that name | name = "unknown"
					TwoActions       | cancels 'act', and 2 web handlers have that name                | and no other one
					Itself           | cancels 'act', and 2 web handlers have that name                | name = "act"
					OfACancel        | which is itself a cancellation                                        | whose effect it undoes
					LeaseCancel      | cancel() has Guarantee.LEASE                                    | Guarantee.TRANSACTION
					LeaseAction      | act(), which has Guarantee.LEASE                                | Guarantee.TRANSACTION
					FingerprintKeys  | act(), which does not take its key from the header              | KeySource.HEADER
					ExpressionKeys   | cancel() does not take its key from the header                  | KeySource.HEADER
					NotIdempotent    | is not @Idempotent                                              | Guarantee.TRANSACTION
					OnAMethod        | is not a web handler of Spring MVC                              | Remove @Cancels
					OnAMethodAlone   | is not @Idempotent                                              | Guarantee.TRANSACTION
					ActionIsAMethod  | no @Idempotent web handler has that name                        | name = "act"
					""")
	void stopTheApplication(String handlers, String mistake, String action) throws ClassNotFoundException {
		assertStops(this.application, handlers, mistake, action);
	}

	@Test
	void includeAnotherTransactionManager() throws ClassNotFoundException {
		DataSource second = new DriverManagerDataSource("jdbc:h2:mem:second;DB_CLOSE_DELAY=-1");
		WebApplicationContextRunner two = this.application
			.withBean("second", JdbcTransactionManager.class, () -> new JdbcTransactionManager(second))
			.withBean("first", JdbcTransactionManager.class,
					() -> new JdbcTransactionManager(
							new DriverManagerDataSource("jdbc:h2:mem:first;DB_CLOSE_DELAY=-1")))
			.withPropertyValues("idempotent.jdbc.initialize-schema=never", "idempotent.jdbc.transaction-manager=first");
		createTables(second, new DriverManagerDataSource("jdbc:h2:mem:first;DB_CLOSE_DELAY=-1"));
		assertStops(two, "OtherManager", "which has another transaction manager or DataSource", "the same one");
	}

	@Test
	void includeADisabledFilter() throws ClassNotFoundException {
		assertStops(this.application.withPropertyValues("idempotent.enabled=false"), "Fine",
				"would run unprotected: idempotent.enabled is false", "Remove that property");
	}

	@ParameterizedTest
	@ValueSource(strings = { "Fine", "FineWithTwoCancels", "FineByInterface" })
	void doNotIncludeAPairThatFits(String handlers) throws ClassNotFoundException {
		Class<?> fine = handlers(handlers);
		this.application.withUserConfiguration(fine).run((context) -> assertThat(context).hasNotFailed());
		this.application.withUserConfiguration(fine)
			.withPropertyValues("idempotent.guarantee=transaction")
			.run((context) -> assertThat(context).hasNotFailed());
	}

	@Test
	void doNotIncludeHandlersThatReceiveNoRequests() throws ClassNotFoundException {
		new ApplicationContextRunner().withConfiguration(AUTO)
			.withPropertyValues("idempotent.namespace=shop", "spring.datasource.generate-unique-name=true")
			.withUserConfiguration(handlers("Fine"))
			.run((context) -> assertThat(context).hasNotFailed());
	}

	private static void createTables(DataSource... databases) {
		for (DataSource database : databases) {
			new ResourceDatabasePopulator(new ClassPathResource("dev/idempotent/schema/h2/idempotency.sql"))
				.execute(database);
		}
	}

	private static Class<?> handlers(String name) throws ClassNotFoundException {
		return Class.forName(CancelHandlers.class.getName() + "$" + name);
	}

	private static void assertStops(WebApplicationContextRunner application, String handlers, String mistake,
			String action) throws ClassNotFoundException {
		application.withUserConfiguration(handlers(handlers)).run((context) -> {
			IdempotentConfigurationException found = mistakeIn(context.getStartupFailure());
			assertThat(found).hasMessageStartingWith("The @Cancels method ").hasMessageContaining(mistake);
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

	/**
	 * Actions and cancels, most of which do not fit.
	 */
	static final class CancelHandlers {

		private CancelHandlers() {
		}

		@RestController
		static class Fine {

			@Idempotent(name = "act", guarantee = Guarantee.TRANSACTION)
			@PostMapping("/act")
			void act() {
			}

			@Cancels("act")
			@Idempotent(guarantee = Guarantee.TRANSACTION)
			@PostMapping("/cancel")
			void cancel() {
			}

		}

		static class FineWithTwoCancels extends Fine {

			@Cancels("act")
			@Idempotent(guarantee = Guarantee.TRANSACTION)
			@PostMapping("/expire")
			void expire() {
			}

		}

		interface Declared {

			@Idempotent(name = "act", guarantee = Guarantee.TRANSACTION)
			@PostMapping("/act")
			void act();

			@Cancels("act")
			@Idempotent(guarantee = Guarantee.TRANSACTION)
			@PostMapping("/cancel")
			void cancel();

		}

		@RestController
		static class FineByInterface implements Declared {

			@Override
			public void act() {
			}

			@Override
			public void cancel() {
			}

		}

		@RestController
		static class UnknownAction {

			@Cancels("unknown")
			@Idempotent(guarantee = Guarantee.TRANSACTION)
			@PostMapping("/cancel")
			void cancel() {
			}

		}

		static class TwoActions extends Fine {

			@Idempotent(name = "act", guarantee = Guarantee.TRANSACTION)
			@PostMapping("/other")
			void other() {
			}

		}

		static class Itself extends Fine {

			@Cancels("act")
			@Idempotent(name = "act", guarantee = Guarantee.TRANSACTION)
			@PostMapping("/itself")
			void itself() {
			}

		}

		@RestController
		static class OfACancel {

			@Cancels("act")
			@Idempotent(name = "act", guarantee = Guarantee.TRANSACTION)
			@PostMapping("/act")
			void act() {
			}

		}

		@RestController
		static class LeaseCancel {

			@Idempotent(name = "act", guarantee = Guarantee.TRANSACTION)
			@PostMapping("/act")
			void act() {
			}

			@Cancels("act")
			@Idempotent
			@PostMapping("/cancel")
			void cancel() {
			}

		}

		@RestController
		static class LeaseAction {

			@Idempotent(name = "act")
			@PostMapping("/act")
			void act() {
			}

			@Cancels("act")
			@Idempotent(guarantee = Guarantee.TRANSACTION)
			@PostMapping("/cancel")
			void cancel() {
			}

		}

		@RestController
		static class FingerprintKeys {

			@Idempotent(name = "act", guarantee = Guarantee.TRANSACTION, from = KeySource.HEADER_OR_FINGERPRINT)
			@PostMapping("/act")
			void act() {
			}

			@Cancels("act")
			@Idempotent(guarantee = Guarantee.TRANSACTION)
			@PostMapping("/cancel")
			void cancel() {
			}

		}

		@RestController
		static class ExpressionKeys {

			@Idempotent(name = "act", guarantee = Guarantee.TRANSACTION)
			@PostMapping("/act")
			void act() {
			}

			@Cancels("act")
			@Idempotent(guarantee = Guarantee.TRANSACTION, key = "#headers['X-Id']", name = "expression-keys.cancel")
			@PostMapping("/cancel")
			void cancel() {
			}

		}

		@RestController
		static class NotIdempotent {

			@Cancels("act")
			@PostMapping("/cancel")
			void cancel() {
			}

		}

		@Component
		static class OnAMethod {

			@Cancels("act")
			@Idempotent(key = "#id", name = "on-a-method.cancel")
			void cancel(String id) {
			}

		}

		@Component
		static class OnAMethodAlone {

			@Cancels("act")
			void cancel(String id) {
			}

		}

		@RestController
		@Import(ActionIsAMethod.Action.class)
		static class ActionIsAMethod {

			@Cancels("act")
			@Idempotent(guarantee = Guarantee.TRANSACTION)
			@PostMapping("/cancel")
			void cancel() {
			}

			static class Action {

				@Idempotent(name = "act", guarantee = Guarantee.TRANSACTION, key = "#id")
				void act(String id) {
				}

			}

		}

		@RestController
		static class OtherManager {

			@Idempotent(name = "act", guarantee = Guarantee.TRANSACTION)
			@PostMapping("/act")
			void act() {
			}

			@Cancels("act")
			@Transactional("second")
			@Idempotent(guarantee = Guarantee.TRANSACTION)
			@PostMapping("/cancel")
			void cancel() {
			}

		}

	}

}
