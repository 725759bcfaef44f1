package dev.idempotent.outbox.jdbc;

import java.util.ArrayList;
import java.util.List;

import com.zaxxer.hikari.HikariDataSource;
import dev.idempotent.IdempotentConfigurationException;
import dev.idempotent.outbox.Outbox;
import dev.idempotent.outbox.OutboxApplication;
import dev.idempotent.outbox.OutboxEvent;
import dev.idempotent.outbox.RecordingPublisher;
import dev.idempotent.testing.RealPostgres;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.Timeout.ThreadMode;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

/**
 * The start of a relay whose database user may not do what ends an event.
 */
@ExtendWith(OutputCaptureExtension.class)
class OutboxPrivilegesIntegrationTests {

	private static final String PREFIX = "idempotent.outbox.table-prefix=privileges_";

	@RegisterExtension
	static final RealPostgres postgres = RealPostgres.shared();

	private final HikariDataSource pool = postgres.connect();

	private final JdbcClient admin = JdbcClient.create(this.pool);

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
	void stopTheStartIfEventsCannotBeClaimed() {
		execute("revoke update on privileges_event from relay");
		assertThatThrownBy(this::start).hasStackTraceContaining("The outbox relay could not remove events");
	}

	@Test
	void stopTheStartIfDelayedEventsCannotBeRemoved() {
		execute("revoke delete on privileges_delayed from relay");
		assertThatThrownBy(this::start).hasStackTraceContaining("The outbox relay could not remove events");
	}

	@Test
	void stopTheStartIfATriggerForbidsToRemoveEvents() {
		execute("create function privileges_forbid() returns trigger language plpgsql as "
				+ "'begin raise exception ''keep them''; end'");
		execute("create trigger forbid before delete on privileges_event execute function privileges_forbid()");
		try {
			assertThatThrownBy(this::start).hasStackTraceContaining("The outbox relay could not remove events")
				.hasStackTraceContaining("keep them");
		}
		finally {
			execute("drop function privileges_forbid cascade");
		}
	}

	@Test
	void stopTheStartIfTheTableIsPartitioned() {
		execute("create table privileges_parts (like privileges_event including all) partition by hash (lane)");
		execute("alter table privileges_event rename to privileges_whole");
		execute("alter table privileges_parts rename to privileges_event");
		execute("grant all on privileges_event to relay");
		try {
			assertThatThrownBy(this::start).hasStackTraceContaining("privileges_event")
				.hasStackTraceContaining("partition");
		}
		finally {
			execute("drop table privileges_event");
			execute("alter table privileges_whole rename to privileges_event");
		}
	}

	@Test
	@Timeout(value = 60, threadMode = ThreadMode.SEPARATE_THREAD)
	void areNotWaitedForWhileATableIsLocked(CapturedOutput output) {
		new TransactionTemplate(new JdbcTransactionManager(this.pool)).executeWithoutResult((status) -> {
			execute("lock table privileges_event in share mode");
			start().close();
		});
		assertThat(output)
			.contains("does not answer or is read-only, so the tables of the outbox could not be checked");
	}

	@Test
	void areRequiredOnceADatabaseIsNoLongerReadOnly(CapturedOutput output) {
		execute("revoke insert on privileges_dead from relay");
		execute("alter role relay set default_transaction_read_only = on");
		try (ConfigurableApplicationContext context = start()) {
			execute("alter role relay reset default_transaction_read_only");
			context.getBean(HikariDataSource.class).getHikariPoolMXBean().softEvictConnections();
			publishesNothing(context, output);
		}
	}

	@Test
	void areRequiredOfAnOutboxThatIsSwitchedOnLater(CapturedOutput output) {
		execute("revoke insert on privileges_dead from relay");
		try (ConfigurableApplicationContext context = start("spring.main.lazy-initialization=true")) {
			publishesNothing(context, output);
		}
	}

	private static void publishesNothing(ConfigurableApplicationContext context, CapturedOutput output) {
		new TransactionTemplate(context.getBean(PlatformTransactionManager.class))
			.executeWithoutResult((status) -> context.getBean(Outbox.class).append(OutboxEvent.of("type", 1)));
		await().until(() -> output.getOut().contains("permission denied for table privileges_dead"));
		assertThat(context.getBean(RecordingPublisher.class).types()).isEmpty();
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

	private ConfigurableApplicationContext start(String... properties) {
		List<String> all = new ArrayList<>(List.of(properties));
		all.addAll(List.of(PREFIX, "spring.datasource.url=" + postgres.url(), "spring.datasource.username=relay",
				"spring.datasource.password=relay", "idempotent.outbox.initialize-schema=never"));
		return OutboxApplication.start(all);
	}

	private void execute(String sql) {
		this.admin.sql(sql).update();
	}

}
