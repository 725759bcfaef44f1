package dev.idempotent.outbox.jdbc;

import java.util.ArrayList;
import java.util.List;

import com.zaxxer.hikari.HikariDataSource;
import dev.idempotent.IdempotentConfigurationException;
import dev.idempotent.outbox.Outbox;
import dev.idempotent.outbox.OutboxApplication;
import dev.idempotent.outbox.OutboxEvent;
import dev.idempotent.outbox.RecordingPublisher;
import dev.idempotent.outbox.jdbc.EventTableSteps.Fixture;
import dev.idempotent.outbox.relay.OutboxRelay;
import dev.idempotent.testing.RealPostgres;
import dev.idempotent.transaction.OwnTransactions;
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
import org.springframework.dao.CannotAcquireLockException;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
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
		Fixture.create(this.pool, "postgresql", "privileges_");
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
		assertThatThrownBy(this::start)
			.hasStackTraceContaining(
					IdempotentConfigurationException.class.getName() + ": The outbox relay could not remove events")
			.rootCause()
			.hasMessageContaining("permission denied");
	}

	@Test
	void areRefusedIfDeadEventsCannotBeKept() {
		execute("revoke insert on privileges_dead from relay");
		assertRefused("permission denied");
	}

	@Test
	void areRefusedIfEventsCannotBeClaimed() {
		execute("revoke update on privileges_event from relay");
		assertRefused("permission denied");
	}

	@Test
	void areRefusedIfDelayedEventsCannotBeRemoved() {
		execute("revoke delete on privileges_delayed from relay");
		assertRefused("permission denied");
	}

	@Test
	void areRefusedIfATriggerForbidsToRemoveEvents() {
		execute("create function privileges_forbid() returns trigger language plpgsql as "
				+ "'begin raise exception ''keep them''; end'");
		execute("create trigger forbid before delete on privileges_event execute function privileges_forbid()");
		try {
			assertRefused("keep them");
		}
		finally {
			execute("drop function privileges_forbid cascade");
		}
	}

	@Test
	void areRefusedIfTheTableIsPartitioned() {
		execute("create table privileges_parts (like privileges_event including all) partition by hash (lane)");
		execute("alter table privileges_event rename to privileges_whole");
		execute("alter table privileges_parts rename to privileges_event");
		execute("grant all on privileges_event to relay");
		try {
			assertRefused("privileges_event is a view, or has partitions");
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
	@Timeout(value = 60, threadMode = ThreadMode.SEPARATE_THREAD)
	void areNotWaitedForWhileATableCannotBeRead() {
		new TransactionTemplate(new JdbcTransactionManager(this.pool)).executeWithoutResult((status) -> {
			execute("lock table privileges_event");
			assertThatExceptionOfType(CannotAcquireLockException.class)
				.isThrownBy(() -> new OutboxTableCheck(new OwnTransactions(this.pool), "privileges_").hasTables())
				.withMessageContaining("locked the table privileges_event");
		});
	}

	/**
	 * A trigger for each statement, as one that keeps a log of changes. Its sequence is
	 * not rolled back.
	 */
	@Test
	void areRehearsedOnceWithoutAnEffect() {
		execute("create sequence privileges_rehearsal");
		execute("create table privileges_log (entry bigint)");
		execute("create function privileges_keep() returns trigger language plpgsql security definer as "
				+ "'begin insert into privileges_log values (nextval(''privileges_rehearsal'')); return null; end'");
		execute("create trigger keep after delete on privileges_event execute function privileges_keep()");
		try (ConfigurableApplicationContext context = start("idempotent.outbox.relay.enabled=true")) {
			await().until(() -> context.getBean(OutboxRelay.class).lastPass().isPresent());
			assertThat(this.admin.sql("select last_value from privileges_rehearsal where is_called")
				.query(Long.class)
				.single()).isOne();
			assertThat(this.admin.sql("select entry from privileges_log").query(Long.class).list()).isEmpty();
		}
		finally {
			execute("drop function privileges_keep cascade");
			execute("drop table privileges_log");
			execute("drop sequence privileges_rehearsal");
		}
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

	@Test
	void tellOnceThatTheDatabaseIsReadOnlyAndOnceThatItIsNot(CapturedOutput output) {
		try (ConfigurableApplicationContext context = start("idempotent.outbox.relay.enabled=true",
				"idempotent.outbox.relay.scan-interval=300ms")) {
			OutboxRelay relay = context.getBean(OutboxRelay.class);
			await().until(() -> relay.lastPass().isPresent());
			execute("alter role relay set default_transaction_read_only = on");
			execute("insert into privileges_event (event_id, topic, type, payload) "
					+ "values (gen_random_uuid(), 'test:orders', 'order.created', '{}')");
			evictConnections(context);
			await().until(() -> output.getOut().contains("The outbox cannot be read or changed"));
			awaitPasses(relay, 5);
			assertThat(output).containsOnlyOnce("The outbox cannot be read or changed")
				.doesNotContain("The outbox can be read and changed again");
			execute("alter role relay reset default_transaction_read_only");
			evictConnections(context);
			await().until(() -> output.getOut().contains("The outbox can be read and changed again"));
			await().until(() -> !context.getBean(RecordingPublisher.class).types().isEmpty());
			awaitPasses(relay, 5);
		}
		assertThat(output).containsOnlyOnce("The outbox cannot be read or changed")
			.containsOnlyOnce("The outbox can be read and changed again");
	}

	private static void awaitPasses(OutboxRelay relay, int passes) {
		for (int i = 0; i < passes; i++) {
			long begun = System.nanoTime();
			await().until(() -> relay.lastPass()
				.filter((pass) -> pass.age().toNanos() < System.nanoTime() - begun)
				.isPresent());
		}
	}

	private static void evictConnections(ConfigurableApplicationContext context) {
		context.getBean(HikariDataSource.class).getHikariPoolMXBean().softEvictConnections();
	}

	private void assertRefused(String cause) {
		try (HikariDataSource relay = postgres.connect()) {
			relay.setConnectionInitSql("set role relay");
			assertThatExceptionOfType(IdempotentConfigurationException.class)
				.isThrownBy(() -> new OutboxTableCheck(new OwnTransactions(relay), "privileges_").requirePrivileges())
				.withMessageContaining("The outbox relay could not remove events")
				.withMessageContaining(cause);
		}
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
