package dev.idempotent.autoconfigure.actuate;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.InstantSource;
import java.util.concurrent.atomic.AtomicInteger;

import javax.sql.DataSource;

import dev.idempotent.autoconfigure.actuate.SagaShop.Checkout;
import dev.idempotent.autoconfigure.actuate.SagaShop.Warehouse;
import dev.idempotent.autoconfigure.saga.ImportSagas;
import dev.idempotent.saga.SagaHaltedException;
import dev.idempotent.saga.SagaSteps;
import dev.idempotent.saga.method.SagaApplication;
import dev.idempotent.test.InMemoryIdempotencyStore;
import dev.idempotent.testing.ClassPathWithout;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import org.h2.jdbcx.JdbcDataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.Status;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.transaction.autoconfigure.TransactionAutoConfiguration;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DelegatingDataSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for the health indicator of sagas, and for applications without what operates
 * sagas.
 */
class SagaHealthTests {

	private static final AtomicInteger DATABASES = new AtomicInteger();

	@Test
	void isUpWithHaltedSagasAndWarnsOfThem() {
		start(Shop.class).run((context) -> {
			assertThat(health(context).getStatus()).isEqualTo(Status.UP);
			assertThat(health(context).getDetails()).containsOnlyKeys("oldestDueAge", "maxDueAge", "halted",
					"unserved");
			halt(context);
			assertThat(health(context).getStatus()).isEqualTo(Status.UP);
			assertThat(health(context).getDetails()).containsEntry("halted", 1).containsKey("warning");
		});
	}

	@Test
	void isDownOnceADueSagaHasWaitedTooLong() {
		start(Shop.class).run((context) -> {
			leaveDue(context, 240);
			assertThat(health(context).getStatus()).isEqualTo(Status.UP);
			assertThat(health(context).getDetails()).containsEntry("unserved", 1);
			leaveDue(context, 301);
			assertThat(health(context).getStatus()).isEqualTo(Status.DOWN);
		});
	}

	@Test
	void usesTheConfiguredAge() {
		start(Shop.class).withPropertyValues("idempotent.saga.health.max-due-age=1h").run((context) -> {
			leaveDue(context, 301);
			assertThat(health(context).getStatus()).isEqualTo(Status.UP);
			leaveDue(context, 3601);
			assertThat(health(context).getStatus()).isEqualTo(Status.DOWN);
		});
	}

	@Test
	void refusesAnAgeOfZero() {
		start(Shop.class).withPropertyValues("idempotent.saga.health.max-due-age=0s")
			.run((context) -> assertThat(context).getFailure()
				.hasRootCauseMessage("idempotent.saga.health.max-due-age is PT0S."));
	}

	@Test
	void isDownWithoutItsDatabaseAndRevealsNoSecret() {
		start(Shop.class).run((context) -> {
			context.getBean(Database.class).away = true;
			Health health = health(context);
			assertThat(health.getStatus()).isEqualTo(Status.DOWN);
			assertThat(health.getDetails()).containsOnlyKeys("database");
			assertThat(health.toString()).doesNotContain("s3cret");
			context.getBean(Database.class).away = false;
		});
	}

	@Test
	void isUnknownAndNeedsNoDatabaseWithoutSagas() {
		start(NoShop.class).run((context) -> {
			int before = context.getBean(Database.class).connections.get();
			assertThat(health(context).getStatus()).isEqualTo(Status.UNKNOWN);
			assertThat(context.getBean(Database.class).connections).hasValue(before);
			assertThat(context.getBean(MeterRegistry.class).getMeters())
				.noneMatch((meter) -> meter.getId().getName().startsWith("saga."));
			assertThat(context).hasBean("sagaEndpoint");
			assertThat(context.getBeanFactory().containsSingleton("sagaStore")).isFalse();
			assertThat(context.getBeanFactory().containsSingleton("sagaAdministration")).isFalse();
		});
	}

	@Test
	void canBeSwitchedOff() {
		start(Shop.class).withPropertyValues("management.health.saga.enabled=false")
			.run((context) -> assertThat(context).doesNotHaveBean(SagaHealthIndicator.class));
	}

	@ParameterizedTest
	@CsvSource({ "org.springframework.boot.actuate, sagaEndpoint",
			"org.springframework.boot.health, sagaHealthIndicator", "io.micrometer.core, sagaMetrics" })
	void isNotNeededToRunSagas(String missing, String bean) throws ClassNotFoundException {
		ClassPathWithout classPath = new ClassPathWithout(missing);
		new ApplicationContextRunner().withClassLoader(classPath)
			.withPropertyValues("management.endpoints.web.exposure.include=saga", "idempotent.namespace=shop",
					"spring.datasource.generate-unique-name=true")
			.withUserConfiguration(classPath.loadClass(WholeShop.class.getName()))
			.run((context) -> assertThat(context).hasNotFailed().hasBean("sagaEngine").doesNotHaveBean(bean));
	}

	private static ApplicationContextRunner start(Class<?> application) {
		return SagaApplication.with(application, Database.class)
			.withPropertyValues("management.endpoints.web.exposure.include=saga")
			.withBean(MeterRegistry.class, SimpleMeterRegistry::new)
			.withBean(InMemoryIdempotencyStore.class, () -> new InMemoryIdempotencyStore(InstantSource.system()))
			.withConfiguration(AutoConfigurations.of(SagaOperationsAutoConfiguration.class));
	}

	private static void halt(ApplicationContext context) {
		context.getBean(Warehouse.class).acceptReturns(false);
		assertThatExceptionOfType(SagaHaltedException.class)
			.isThrownBy(() -> context.getBean(Checkout.class).place("4711", "refused"));
	}

	/**
	 * Leaves a saga behind that no method continues.
	 */
	private static void leaveDue(ApplicationContext context, int seconds) {
		JdbcTemplate jdbc = new JdbcTemplate(context.getBean(Database.class));
		jdbc.update("delete from saga_step");
		jdbc.update("delete from saga_instance");
		halt(context);
		jdbc.update("update saga_instance set status = 'COMPENSATING', name = 'former', "
				+ "due_at = dateadd(second, ?, current_timestamp)", -seconds);
	}

	private static Health health(ApplicationContext context) {
		return context.getBean(SagaHealthIndicator.class).health();
	}

	@Configuration(proxyBeanMethods = false)
	static class Shop {

		@Bean
		Checkout checkout(SagaSteps saga, Warehouse warehouse) {
			return new Checkout(saga, warehouse);
		}

		@Bean
		Warehouse warehouse() {
			return new Warehouse();
		}

	}

	@Configuration(proxyBeanMethods = false)
	@ImportAutoConfiguration({ AopAutoConfiguration.class, DataSourceAutoConfiguration.class,
			DataSourceTransactionManagerAutoConfiguration.class, TransactionAutoConfiguration.class,
			SagaOperationsAutoConfiguration.class })
	@ImportSagas
	static class WholeShop extends Shop {

		@Bean
		InMemoryIdempotencyStore store() {
			return new InMemoryIdempotencyStore(InstantSource.system());
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class NoShop {

	}

	static class Database extends DelegatingDataSource {

		private final AtomicInteger connections = new AtomicInteger();

		private volatile boolean away;

		Database() {
			super(h2());
		}

		private static DataSource h2() {
			JdbcDataSource h2 = new JdbcDataSource();
			h2.setURL("jdbc:h2:mem:saga-health-" + DATABASES.incrementAndGet() + ";DB_CLOSE_DELAY=-1");
			return h2;
		}

		@Override
		public Connection getConnection() throws SQLException {
			this.connections.incrementAndGet();
			if (this.away) {
				throw new SQLException("no connection for user sa with password s3cret");
			}
			return super.getConnection();
		}

	}

}
