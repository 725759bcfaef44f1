package dev.idempotent.idempotency.method;

import java.util.function.Consumer;

import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.IdempotencyPendingException;
import dev.idempotent.testing.RealPostgres;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.dao.DataIntegrityViolationException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.transaction.PlatformTransactionManager;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Annotated methods in transactions of PostgreSQL in which a statement fails: the
 * database rolls them back even if their commit succeeds.
 */
class SurroundingTransactionsIntegrationTests {

	@RegisterExtension
	static final RealPostgres postgres = RealPostgres.dedicated();

	@BeforeEach
	void createTables() {
		JdbcTemplate database = new JdbcTemplate(
				new DriverManagerDataSource(postgres.url(), RealPostgres.USER, RealPostgres.PASSWORD));
		database.execute("drop table if exists effect, idempotency_record, taken");
		database.execute("create table taken (id int primary key)");
		database.execute("insert into taken values (1)");
	}

	@Test
	void doNotReplayWorkAfterACaughtFailureOfAStatement() {
		run((context) -> {
			SurroundedShop shop = context.getBean(SurroundedShop.class);
			SurroundedShop.required(manager(context), () -> {
				shop.lease("k");
				failSilently(context);
			});
			assertThat(committed(context)).isEmpty();
			assertRunsAgain(context, Guarantee.LEASE);
		});
	}

	@ParameterizedTest
	@EnumSource(names = { "LEASE", "TRANSACTION" })
	void doNotReplayWorkThatALateCallbackRollsBack(Guarantee guarantee) {
		run((context) -> {
			failBehindTheLastStatement(context, guarantee);
			assertThat(committed(context)).isEmpty();
			assertRunsAgain(context, guarantee);
		});
	}

	/**
	 * In a callback that is registered when the callbacks before the commit run.
	 */
	private static void failBehindTheLastStatement(AssertableApplicationContext context, Guarantee guarantee) {
		SurroundedShop.required(manager(context), () -> {
			SurroundedShop.place(context, guarantee, "k");
			SurroundedShop.beforeCommit(() -> SurroundedShop.beforeCompletion(() -> failSilently(context)));
		});
	}

	@Test
	void leaveTheCallerItsOwnExceptionIfALateKeyIsRolledBack() {
		run((context) -> {
			SurroundedShop shop = context.getBean(SurroundedShop.class);
			assertThatExceptionOfType(DataIntegrityViolationException.class)
				.isThrownBy(() -> SurroundedShop.required(manager(context), () -> SurroundedShop.beforeCommit(() -> {
					shop.transaction("k");
					context.getBean(JdbcTemplate.class).update("insert into taken values (1)");
				})));
			assertThat(committed(context)).isEmpty();
			assertThat(context.getBean(Effects.class).records()).isZero();
			assertThat(shop.transaction("k")).isEqualTo(2);
			assertThat(committed(context)).containsExactly("k");
		});
	}

	private static void assertRunsAgain(AssertableApplicationContext context, Guarantee guarantee) {
		await().ignoreExceptionsInstanceOf(IdempotencyPendingException.class)
			.until(() -> SurroundedShop.place(context, guarantee, "k"), (run) -> run == 2);
		assertThat(committed(context)).containsExactly("k");
	}

	private static void failSilently(AssertableApplicationContext context) {
		assertThatExceptionOfType(DataIntegrityViolationException.class)
			.isThrownBy(() -> context.getBean(JdbcTemplate.class).update("insert into taken values (1)"));
	}

	private static Iterable<String> committed(AssertableApplicationContext context) {
		return context.getBean(Effects.class).committed();
	}

	private static PlatformTransactionManager manager(AssertableApplicationContext context) {
		return context.getBean(PlatformTransactionManager.class);
	}

	private static void run(Consumer<AssertableApplicationContext> test) {
		MethodApplication.with(SurroundedShop.class)
			.withPropertyValues(postgres.properties().toArray(String[]::new))
			.withPropertyValues("spring.datasource.generate-unique-name=false",
					"idempotent.jdbc.initialize-schema=always")
			.run(test::accept);
	}

}
