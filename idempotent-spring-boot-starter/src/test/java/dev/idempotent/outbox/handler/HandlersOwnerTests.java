package dev.idempotent.outbox.handler;

import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.util.List;
import java.util.UUID;

import javax.sql.DataSource;

import dev.idempotent.IdempotentConfigurationException;
import dev.idempotent.outbox.OutboxApplication;
import dev.idempotent.outbox.OutboxHandler;
import dev.idempotent.outbox.relay.OutboxRelay;
import dev.idempotent.outbox.TransactionalOutbox;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Two applications whose outbox has the same tables.
 */
@ExtendWith(OutputCaptureExtension.class)
class HandlersOwnerTests {

	private final String database = "jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1";

	private final JdbcTemplate jdbc = new JdbcTemplate(new DriverManagerDataSource(this.database, "sa", ""));

	@Test
	void refusesTheHandlersOfAnotherApplication() {
		application("shop", Bookings.class).run((context) -> assertThat(context).hasNotFailed());
		application("depot", Bookings.class).run((context) -> assertThat(mistake(context)).contains("'depot'", "'shop'",
				"outbox_event", "idempotent.outbox.table-prefix", "outbox_deployment"));
	}

	@Test
	void startsInstancesOfOneApplicationAndApplicationsWithTablesOfTheirOwn() {
		for (int i = 0; i < 2; i++) {
			application("shop", Bookings.class).run((context) -> assertThat(context).hasNotFailed());
		}
		application("depot", Bookings.class).withPropertyValues("idempotent.outbox.table-prefix=depot_")
			.run((context) -> assertThat(context).hasNotFailed());
	}

	@Test
	void followsAChangeOfTheNamespaceThatAnOperatorHasMade() {
		application("shop", Bookings.class).run((context) -> assertThat(context).hasNotFailed());
		this.jdbc.update("update outbox_deployment set content = 'store' where attribute = 'handlers'");
		application("store", Bookings.class).run((context) -> assertThat(context).hasNotFailed());
	}

	/**
	 * Also if the other application has not started yet.
	 */
	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void leavesTheEventsOfHandlersToTheirApplication(boolean started) {
		application(started ? "shop" : "depot", started ? new Class<?>[] { Bookings.class } : new Class<?>[0])
			.withPropertyValues("idempotent.outbox.relay.enabled=false")
			.run((context) -> assertThat(context).hasNotFailed());
		insert("handlers:book");
		insert("test:orders");
		application("depot").withPropertyValues("idempotent.outbox.relay.enabled=true").run((context) -> {
			assertThat(context.getBean(OutboxRelay.class).isRunning()).isTrue();
			await().until(() -> context.getBean(OutboxRelay.class).lastPass().isPresent());
			await().until(() -> topics().equals(List.of("handlers:book")));
		});
		assertThat(this.jdbc.queryForObject("select attempts from outbox_event", Integer.class)).isZero();
		assertThat(this.jdbc.queryForList("select due_at from outbox_event", Object.class)).containsOnlyNulls();
	}

	@Test
	void doesNotStartWithoutTheTable() {
		application("shop", Bookings.class).run((context) -> assertThat(context).hasNotFailed());
		insert("handlers:book");
		this.jdbc.execute("drop table outbox_deployment");
		application("depot", Bookings.class).withPropertyValues("idempotent.outbox.initialize-schema=never")
			.run((context) -> assertThat(mistake(context)).contains("lacks the table outbox_deployment", "[book]",
					"Run the script dev/idempotent/schema/<database>/outbox.sql", "grant select and insert"));
		assertThat(topics()).containsExactly("handlers:book");
	}

	/**
	 * The database does not answer at the start, and then shows another owner.
	 */
	@ParameterizedTest
	@CsvSource({ "shop, true", "depot, false" })
	void handlesNothingBeforeTheOwnerIsKnown(String namespace, boolean handled, CapturedOutput output) {
		application("shop", Bookings.class).run((context) -> assertThat(context).hasNotFailed());
		insert("handlers:book");
		Outage outage = new Outage();
		application(namespace, Bookings.class).withBean(BeanPostProcessor.class, () -> outage)
			.withPropertyValues("idempotent.outbox.relay.enabled=true", "idempotent.outbox.initialize-schema=never")
			.run((context) -> {
				assertThat(context).hasNotFailed();
				await().until(() -> outage.refused > 3);
				assertThat(topics()).containsExactly("handlers:book");
				outage.over = true;
				if (handled) {
					await().until(() -> topics().isEmpty());
				}
				else {
					int before = outage.granted;
					await().until(() -> outage.granted > before + 3);
					assertThat(topics()).containsExactly("handlers:book");
					assertThat(context.getBean(OutboxRelay.class).lastPass()).isEmpty();
					assertThat(output).containsOnlyOnce("Outbox: no event is delivered, because 'depot' has")
						.contains("idempotent.outbox.table-prefix");
				}
			});
	}

	@ParameterizedTest
	@ValueSource(classes = { Bookings.class, Orders.class })
	void startsAndWarnsWhileTheDatabaseDoesNotAnswer(Class<?> uses, CapturedOutput output) {
		application("shop", uses).withBean(BeanPostProcessor.class, Outage::new)
			.withPropertyValues("idempotent.outbox.initialize-schema=never")
			.run((context) -> assertThat(context).hasNotFailed());
		assertThat(output).containsOnlyOnce("the tables of the outbox could not be checked");
	}

	private static String mistake(AssertableApplicationContext context) {
		Throwable failure = context.getStartupFailure();
		while (failure != null && !(failure instanceof IdempotentConfigurationException)) {
			failure = failure.getCause();
		}
		return (failure instanceof IdempotentConfigurationException mistake)
				? mistake.getMessage() + mistake.getAction() : "";
	}

	private List<String> topics() {
		return this.jdbc.queryForList("select topic from outbox_event", String.class);
	}

	private void insert(String topic) {
		this.jdbc.update("insert into outbox_event (event_id, topic, type, payload) values (?, ?, 'order.placed', ?)",
				UUID.randomUUID(), topic, "\"o-1\"".getBytes(StandardCharsets.UTF_8));
	}

	private ApplicationContextRunner application(String namespace, Class<?>... beans) {
		return OutboxApplication.with(beans)
			.withPropertyValues("spring.datasource.generate-unique-name=false",
					"spring.datasource.url=" + this.database, "idempotent.namespace=" + namespace,
					"idempotent.outbox.relay.scan-interval=20ms");
	}

	/**
	 * Lets the data source refuse connections until it is over.
	 */
	static final class Outage implements BeanPostProcessor {

		volatile int refused;

		volatile int granted;

		volatile boolean over;

		@Override
		public Object postProcessAfterInitialization(Object bean, String name) {
			return (bean instanceof DataSource source) ? new DelegatingDataSource(source) {

				@Override
				public synchronized Connection getConnection() throws SQLException {
					if (!Outage.this.over) {
						Outage.this.refused++;
						throw new SQLTransientConnectionException("There is no database");
					}
					Outage.this.granted++;
					return super.getConnection();
				}

			} : bean;
		}

	}

	static class Orders {

		@TransactionalOutbox(topic = "test:orders", type = "order.placed")
		public String place(String order) {
			return order;
		}

	}

	static class Bookings {

		@OutboxHandler(type = "order.placed", name = "book")
		void book(String order) {
		}

	}

}
