package dev.idempotent.autoconfigure.idempotency;

import java.util.UUID;

import javax.sql.DataSource;

import dev.idempotent.autoconfigure.saga.ImportSagas;
import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.saga.Saga;
import dev.idempotent.saga.SagaSteps;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.boot.transaction.autoconfigure.TransactionAutoConfiguration;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What a start tells about keys of the last release that are no longer found.
 */
@ExtendWith(OutputCaptureExtension.class)
class LastStartReportTests {

	private static final String FORGOTTEN = "Keys of the last release are forgotten";

	/**
	 * Remains between starts.
	 */
	private final String database = "jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1";

	@Test
	void tellsOnceWhichNamesOfOperationsHaveGone(CapturedOutput output) {
		start("shop", Billing.class, Shipping.class);
		start("shop", Billing.class, Shipping.class);
		assertThat(output).doesNotContain(FORGOTTEN);
		start("shop", Billing.class);
		assertThat(output).containsOnlyOnce(FORGOTTEN)
			.contains("there are no operations with the names [ship] any more");
		start("shop", Billing.class);
		assertThat(output).containsOnlyOnce(FORGOTTEN);
	}

	@Test
	void doesNotRepeatItselfWhileTwoVersionsAreStartedInTurn(CapturedOutput output) {
		start("shop", Billing.class, Shipping.class);
		start("shop", Billing.class);
		for (int i = 0; i < 3; i++) {
			start("shop", Billing.class, Shipping.class);
			start("shop", Billing.class);
		}
		assertThat(output).containsOnlyOnce(FORGOTTEN);
	}

	@Test
	void tellsThatTheNamespaceHasChanged(CapturedOutput output) {
		start("shop", Billing.class);
		start("store", Billing.class);
		assertThat(output).containsOnlyOnce(FORGOTTEN)
			.contains("the namespace of 'orders' was 'shop' and is now 'store'");
		start("store", Billing.class);
		assertThat(output).containsOnlyOnce(FORGOTTEN);
	}

	@Test
	void tellsEachChangeOfTheNamespace(CapturedOutput output) {
		for (String namespace : new String[] { "shop", "store", "shop", "store" }) {
			start(namespace, Billing.class);
		}
		assertThat(output.getOut().lines().filter((line) -> line.contains(FORGOTTEN))).hasSize(3)
			.satisfiesExactly((line) -> assertThat(line).contains("was 'shop' and is now 'store'"),
					(line) -> assertThat(line).contains("was 'store' and is now 'shop'"),
					(line) -> assertThat(line).contains("was 'shop' and is now 'store'"));
	}

	@Test
	void tellsWhichNamesOfSagasHaveGone(CapturedOutput output) {
		start("shop", Checkout.class);
		start("shop", Checkout.class);
		assertThat(output).doesNotContain(FORGOTTEN);
		start("shop", Renamed.class);
		assertThat(output).containsOnlyOnce(FORGOTTEN)
			.contains("there are no sagas with the names [checkout] any more", "@Saga(name = ...)");
		start("store", Renamed.class);
		assertThat(output).contains("the namespace of 'orders' was 'shop' and is now 'store'");
	}

	@Test
	void tellsOnceThatAnotherApplicationHasTheNamespace(CapturedOutput output) {
		String warning = "the namespace 'shop' was used by [orders] and is now used by 'depot'";
		start("shop", Billing.class);
		for (int i = 0; i < 2; i++) {
			application("shop").withPropertyValues("spring.application.name=depot")
				.withUserConfiguration(Billing.class)
				.run((context) -> assertThat(context).hasNotFailed());
			start("shop", Billing.class);
		}
		assertThat(output).containsOnlyOnce(warning).containsOnlyOnce("and is now used by").doesNotContain(FORGOTTEN);
	}

	@Test
	void keepsOtherApplicationsApart(CapturedOutput output) {
		start("shop", Billing.class, Shipping.class);
		application("depot").withPropertyValues("spring.application.name=depot")
			.withUserConfiguration(Shipping.class)
			.run((context) -> assertThat(context).hasNotFailed());
		assertThat(output).doesNotContain(FORGOTTEN);
	}

	@Test
	void tellsThatTheStoreHasChanged(CapturedOutput output) {
		start("shop", Billing.class);
		application("shop").withPropertyValues("idempotent.store=redis")
			.withUserConfiguration(Billing.class)
			.run((context) -> assertThat(context).hasNotFailed());
		assertThat(output).containsOnlyOnce(FORGOTTEN)
			.contains("keys under LEASE were stored in the database and are now stored in Redis");
	}

	@Test
	void startsWithoutTheTableAndTellsWhatIsMissing(CapturedOutput output) {
		start("shop", Billing.class, Shipping.class);
		application("shop").withUserConfiguration(Billing.class)
			.withPropertyValues("idempotent.jdbc.initialize-schema=never")
			.withInitializer(
					(context) -> new JdbcTemplate(dataSource()).execute("drop table idempotency_record_deployment"))
			.run((context) -> assertThat(context).hasNotFailed());
		assertThat(output).doesNotContain(FORGOTTEN)
			.containsOnlyOnce("The database lacks the table idempotency_record_deployment")
			.contains("Run the script dev/idempotent/schema/<database>/idempotency.sql");
	}

	private DataSource dataSource() {
		return new DriverManagerDataSource(this.database, "sa", "");
	}

	private void start(String namespace, Class<?>... operations) {
		application(namespace).withUserConfiguration(operations).run((context) -> assertThat(context).hasNotFailed());
	}

	private ApplicationContextRunner application(String namespace) {
		return new ApplicationContextRunner()
			.withPropertyValues("spring.application.name=orders", "idempotent.namespace=" + namespace,
					"spring.datasource.url=" + this.database, "idempotent.jdbc.initialize-schema=always",
					"idempotent.saga.initialize-schema=always", "idempotent.store=jdbc")
			.withUserConfiguration(Application.class);
	}

	@Configuration(proxyBeanMethods = false)
	@ImportAutoConfiguration({ AopAutoConfiguration.class, DataRedisAutoConfiguration.class,
			DataSourceAutoConfiguration.class, DataSourceTransactionManagerAutoConfiguration.class,
			TransactionAutoConfiguration.class })
	@ImportMethods
	@ImportSagas
	static class Application {

	}

	static class Billing {

		@Idempotent(key = "#id", name = "bill", guarantee = Guarantee.LEASE)
		public String bill(String id) {
			return id;
		}

	}

	static class Shipping {

		@Idempotent(key = "#id", name = "ship", guarantee = Guarantee.LEASE)
		public String ship(String id) {
			return id;
		}

	}

	static class Checkout {

		private final SagaSteps saga;

		Checkout(SagaSteps saga) {
			this.saga = saga;
		}

		@Saga(name = "checkout", key = "#id")
		public void place(String id) {
			this.saga.step("charge").run(() -> {
			});
		}

	}

	static class Renamed {

		private final SagaSteps saga;

		Renamed(SagaSteps saga) {
			this.saga = saga;
		}

		@Saga(name = "place-order", key = "#id")
		public void place(String id) {
			this.saga.step("charge").run(() -> {
			});
		}

	}

}
