package dev.idempotent.outbox.jdbc;

import java.util.ArrayList;
import java.util.List;

import dev.idempotent.IdempotentConfigurationException;
import dev.idempotent.outbox.OutboxApplication;
import dev.idempotent.testing.RealPostgres;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.jdbc.core.simple.JdbcClient;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * The start of a relay whose database user may not do what ends an event.
 */
@ExtendWith(OutputCaptureExtension.class)
class OutboxPrivilegesIntegrationTests {

	private static final String PREFIX = "idempotent.outbox.table-prefix=privileges_";

	@RegisterExtension
	static final RealPostgres postgres = RealPostgres.shared();

	private final JdbcClient admin = JdbcClient.create(postgres.connect());

	@BeforeEach
	void createUser() {
		List<String> properties = new ArrayList<>(postgres.properties());
		properties.addAll(List.of(PREFIX, "idempotent.outbox.relay.enabled=false"));
		OutboxApplication.start(properties).close();
		execute("create role relay login password 'relay'");
		execute("grant select, insert, update, delete on all tables in schema public to relay");
		execute("grant usage on all sequences in schema public to relay");
	}

	@AfterEach
	void dropUser() {
		execute("drop owned by relay");
		execute("drop role relay");
	}

	@Test
	void stopTheStartIfEventsCannotBeRemoved() {
		execute("revoke delete on privileges_event from relay");
		assertThatThrownBy(this::start).rootCause().hasMessageContaining("permission denied");
		assertThatThrownBy(this::start).hasStackTraceContaining(
				IdempotentConfigurationException.class.getName() + ": The outbox relay could not remove events");
	}

	@Test
	void stopTheStartIfDeadEventsCannotBeKept() {
		execute("revoke insert on privileges_dead from relay");
		assertThatThrownBy(this::start).hasStackTraceContaining("The outbox relay could not remove events");
	}

	@Test
	void sufficeWithoutTheRightToChangeTables(CapturedOutput output) {
		start().close();
		assertThat(output).doesNotContain("could not be checked");
	}

	@Test
	void areNotRequiredOfADatabaseThatIsReadOnlyForNow(CapturedOutput output) {
		execute("alter role relay set default_transaction_read_only = on");
		start().close();
		assertThat(output)
			.contains("does not answer or is read-only, so the tables of the outbox could not be checked");
	}

	private ConfigurableApplicationContext start() {
		return OutboxApplication
			.start(List.of(PREFIX, "spring.datasource.url=" + postgres.url(), "spring.datasource.username=relay",
					"spring.datasource.password=relay", "idempotent.outbox.initialize-schema=never"));
	}

	private void execute(String sql) {
		this.admin.sql(sql).update();
	}

}
