package dev.idempotent.outbox.relay;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.stream.IntStream;

import javax.sql.DataSource;

import dev.idempotent.outbox.Outbox;
import dev.idempotent.outbox.OutboxApplication;
import dev.idempotent.outbox.OutboxEvent;
import dev.idempotent.outbox.Outcome;
import dev.idempotent.outbox.RecordingPublisher;
import dev.idempotent.outbox.jdbc.EventTable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.core.io.ClassPathResource;
import org.springframework.dao.InvalidDataAccessResourceUsageException;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.init.ResourceDatabasePopulator;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Tests for starting and stopping {@link OutboxRelay}.
 */
@ExtendWith(OutputCaptureExtension.class)
class OutboxRelayTests {

	private static final String NO_TABLES = "idempotent.outbox.initialize-schema=never";

	@Test
	void staysStoppedInAnApplicationWithoutTables() {
		try (ConfigurableApplicationContext context = OutboxApplication.start(List.of(NO_TABLES))) {
			assertThat(context.getBean(OutboxRelay.class).isRunning()).isFalse();
			assertThatExceptionOfType(InvalidDataAccessResourceUsageException.class).isThrownBy(() -> append(context))
				.withMessageContaining("dev/idempotent/schema/")
				.withMessageContaining("idempotent.outbox.initialize-schema");
		}
	}

	@Test
	void startsWithTheFirstEventOnceTablesExist() {
		try (ConfigurableApplicationContext context = OutboxApplication.start(List.of(NO_TABLES))) {
			new ResourceDatabasePopulator(new ClassPathResource("dev/idempotent/schema/h2/outbox.sql"))
				.execute(context.getBean(DataSource.class));
			append(context);
			await().untilAsserted(() -> assertThat(context.getBean(RecordingPublisher.class).published()).hasSize(1));
			assertThat(context.getBean(OutboxRelay.class).isRunning()).isTrue();
		}
	}

	@Test
	void startsInAnApplicationWithLazyBeans() {
		try (ConfigurableApplicationContext context = OutboxApplication
			.start(List.of("spring.main.lazy-initialization=true", "idempotent.outbox.relay.enabled=true"))) {
			assertThat(Thread.getAllStackTraces().keySet()).extracting(Thread::getName).contains("outbox-relay-test-1");
			assertThat(context.getBean(OutboxRelay.class).isRunning()).isTrue();
		}
	}

	@Test
	void startsAgainAfterAStop() {
		try (ConfigurableApplicationContext context = OutboxApplication.start(List.of())) {
			OutboxRelay relay = context.getBean(OutboxRelay.class);
			context.stop();
			append(context);
			assertThat(relay.isRunning()).isFalse();
			assertThat(pending(context)).isOne();
			context.start();
			await().untilAsserted(() -> assertThat(pending(context)).isZero());
			IntStream.range(0, 3).forEach((i) -> relay.start());
			// The thread of the relay that was stopped may be alive for a moment.
			await().untilAsserted(() -> assertThat(Thread.getAllStackTraces().keySet()).extracting(Thread::getName)
				.filteredOn((name) -> name.equals("outbox-relay-test-1"))
				.hasSize(1));
		}
	}

	@Test
	void stopsAtOnceIfThereIsNothingToDeliver() {
		try (ConfigurableApplicationContext context = OutboxApplication.start(List.of())) {
			OutboxRelay relay = context.getBean(OutboxRelay.class);
			relay.start();
			List<Duration> stops = new ArrayList<>();
			for (int i = 0; i < 40; i++) {
				long start = System.nanoTime();
				relay.stop();
				stops.add(Duration.ofNanos(System.nanoTime() - start));
				relay.start();
			}
			Collections.sort(stops);
			// A thread that did not notice would take a second each time; a busy machine
			// delays some of them.
			assertThat(stops.get(10)).isLessThan(Duration.ofMillis(500));
		}
	}

	@Test
	void stopsWithoutDelayWhileTheDatabaseFails(CapturedOutput output) {
		try (ConfigurableApplicationContext context = OutboxApplication.start(
				List.of("idempotent.outbox.relay.scan-interval=200ms", "idempotent.outbox.relay.drain-timeout=2m"))) {
			OutboxRelay relay = context.getBean(OutboxRelay.class);
			context.getBean(RecordingPublisher.class).answer((event) -> new Outcome.Unavailable("down"));
			append(context);
			await().until(() -> !relay.unavailablePublishers().isEmpty());
			context.getBean(JdbcClient.class).sql("alter table outbox_event rename to outbox_elsewhere").update();
			await().until(() -> output.getOut().contains("The outbox cannot be read"));
			long start = System.nanoTime();
			relay.stop();
			// A worker that did not notice would be waited for until the time-out.
			assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofMinutes(1));
		}
	}

	@Test
	void appendsWithoutASecondConnection() {
		try (ConfigurableApplicationContext context = OutboxApplication
			.start(List.of("idempotent.outbox.relay.enabled=false", "spring.datasource.hikari.maximum-pool-size=1",
					"spring.datasource.hikari.connection-timeout=5000"))) {
			append(context);
			assertThat(pending(context)).isOne();
		}
	}

	private static void append(ConfigurableApplicationContext context) {
		new TransactionTemplate(context.getBean(PlatformTransactionManager.class))
			.executeWithoutResult((status) -> context.getBean(Outbox.class).append(OutboxEvent.of("type", 1)));
	}

	private static int pending(ConfigurableApplicationContext context) {
		return context.getBean(JdbcClient.class).sql("select count(*) from outbox_event").query(Integer.class).single();
	}

}
