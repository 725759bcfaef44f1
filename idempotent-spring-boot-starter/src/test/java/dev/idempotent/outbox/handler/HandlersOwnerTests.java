package dev.idempotent.outbox.handler;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.UUID;

import dev.idempotent.IdempotentConfigurationException;
import dev.idempotent.outbox.OutboxApplication;
import dev.idempotent.outbox.OutboxHandler;
import dev.idempotent.outbox.relay.OutboxRelay;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.jdbc.core.JdbcTemplate;
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
		application("depot", Bookings.class).run((context) -> {
			Throwable failure = context.getStartupFailure();
			while (failure != null && !(failure instanceof IdempotentConfigurationException)) {
				failure = failure.getCause();
			}
			assertThat(failure).isInstanceOfSatisfying(IdempotentConfigurationException.class,
					(mistake) -> assertThat(mistake.getMessage() + mistake.getAction()).contains("'depot'", "'shop'",
							"outbox_event", "idempotent.outbox.table-prefix", "outbox_deployment"));
		});
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
	void startsWithoutTheTableAndTellsWhatIsMissing(CapturedOutput output) {
		application("shop", Bookings.class).run((context) -> assertThat(context).hasNotFailed());
		this.jdbc.execute("drop table outbox_deployment");
		application("shop", Bookings.class).withPropertyValues("idempotent.outbox.initialize-schema=never")
			.run((context) -> assertThat(context).hasNotFailed());
		assertThat(output).containsOnlyOnce("The database lacks the table outbox_deployment")
			.contains("Run the script dev/idempotent/schema/<database>/outbox.sql");
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

	static class Bookings {

		@OutboxHandler(type = "order.placed", name = "book")
		void book(String order) {
		}

	}

}
