package dev.idempotent.autoconfigure.actuate;

import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

import dev.idempotent.autoconfigure.actuate.SagaShop.Checkout;
import dev.idempotent.autoconfigure.actuate.SagaShop.Warehouse;
import dev.idempotent.saga.SagaHaltedException;
import dev.idempotent.testing.RealPostgres;
import dev.idempotent.testing.RunningApplication;
import dev.idempotent.testing.WebApplication;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.jdbc.core.JdbcTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Tests for the deletion of sagas by properties, in an application whose sagas are in
 * PostgreSQL.
 */
class SagaSweepIntegrationTests {

	@RegisterExtension
	static final RealPostgres postgres = RealPostgres.shared();

	@Order(RunningApplication.AFTER_ITS_SERVERS)
	@RegisterExtension
	static final RunningApplication application = RunningApplication.of(SagaSweepIntegrationTests::start);

	private static WebApplication start() {
		List<String> properties = new ArrayList<>(postgres.properties());
		properties.addAll(List.of(WebApplication.WITH_DATABASE, "idempotent.jdbc.initialize-schema=always",
				"idempotent.jdbc.table=swept_record", "idempotent.saga.initialize-schema=always",
				"idempotent.saga.table-prefix=swept_saga_", "idempotent.saga.lease=1s", "idempotent.saga.retention=1s",
				"idempotent.saga.sweep-interval=50ms"));
		return WebApplication.start(SagaShop.class, List::of, properties.toArray(String[]::new));
	}

	@Test
	void deletesEndedSagasWithTheirStepsAndKeepsHaltedOnes() {
		Checkout checkout = application.bean(Checkout.class);
		application.bean(Warehouse.class).acceptReturns(false);
		assertThatExceptionOfType(SagaHaltedException.class)
			.isThrownBy(() -> checkout.place(UUID.randomUUID().toString(), "refused"));
		checkout.place(UUID.randomUUID().toString(), "good");
		await().untilAsserted(() -> assertThat(statuses()).containsExactly("HALTED"));
		assertThat(application.bean(JdbcTemplate.class)
			.queryForList("select saga_id from swept_saga_step where saga_id not in "
					+ "(select id from swept_saga_instance)", String.class))
			.isEmpty();
	}

	private static List<String> statuses() {
		return application.bean(JdbcTemplate.class)
			.queryForList("select status from swept_saga_instance", String.class);
	}

}
