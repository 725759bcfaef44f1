package dev.idempotent.autoconfigure.actuate;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

import dev.idempotent.outbox.Outbox;
import dev.idempotent.outbox.OutboxApplication;
import dev.idempotent.outbox.OutboxEvent;
import dev.idempotent.outbox.OutboxObserver.BatchResult;
import dev.idempotent.outbox.Outcome;
import dev.idempotent.outbox.RecordingPublisher;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.binder.MeterBinder;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Tests for {@link OutboxMetrics} in an application.
 */
class OutboxMetricsTests {

	private static final Path DOCUMENT = Path.of("../docs/observability.md");

	/**
	 * Of a row in the tables of meters, split at its lines.
	 */
	private static final int COLUMNS = 5;

	private final ConfigurableApplicationContext context = OutboxApplication.start(
			List.of("idempotent.outbox.relay.backoff=1ms", "idempotent.outbox.relay.scan-interval=5ms"),
			Application.class);

	@AfterEach
	void close() {
		this.context.close();
	}

	@Test
	void countsTheOutcomesOfEvents() {
		RecordingPublisher publisher = this.context.getBean(RecordingPublisher.class);
		publisher.answer((event) -> switch (event.type()) {
			case "bad" -> new Outcome.Reject("It is bad");
			case "late" ->
				(event.attempts() < 3) ? new Outcome.Retry("Not yet", Duration.ZERO) : new Outcome.Delivered();
			default -> new Outcome.Delivered();
		});
		append("good", "bad", "late");
		await().untilAsserted(() -> assertThat(count("outbox.delivered")).isEqualTo(2));
		await().untilAsserted(() -> assertThat(count("outbox.retried")).isEqualTo(2));
		await().untilAsserted(() -> assertThat(count("outbox.dead")).isEqualTo(1));
		assertThat(count("outbox.lease.lost")).isZero();
		assertThat(count("outbox.unavailable")).isZero();
		await().untilAsserted(() -> {
			assertThat(registry().get("outbox.batch.size").summary().totalAmount()).isEqualTo(5);
			assertThat(registry().get("outbox.publish").timer().count())
				.isEqualTo(registry().get("outbox.batch.size").summary().count());
		});
	}

	@Test
	void measuresTheContentsOfTheDatabase() {
		this.context.getBean(RecordingPublisher.class).answer((event) -> new Outcome.Reject("It is bad"));
		append("bad", "bad");
		await().untilAsserted(() -> assertThat(count("outbox.dead")).isEqualTo(2));
		await().untilAsserted(() -> assertThat(registry().get("outbox.events.dead").gauge().value()).isEqualTo(2));
		await().untilAsserted(() -> assertThat(registry().get("outbox.events.pending").gauge().value()).isZero());
		assertThat(registry().get("outbox.scan.age").timeGauge().value(TimeUnit.SECONDS)).isLessThan(60);
		assertThat(registry().get("outbox.publishers.unavailable").gauge().value()).isZero();
	}

	@Test
	void measuresTheEventsThatNobodyClaims() {
		insert("gone:orders", "timestamp '2001-01-01 00:00:00'");
		insert("gone:orders", "null");
		await().untilAsserted(() -> assertThat(registry().get("outbox.events.unserved").gauge().value()).isEqualTo(2));
		assertThat(registry().get("outbox.unserved.age").timeGauge().value(TimeUnit.DAYS)).isGreaterThan(8000);
		this.context.getBean(JdbcTemplate.class).update("delete from outbox_event where topic = 'gone:orders'");
		await().untilAsserted(() -> assertThat(registry().get("outbox.events.unserved").gauge().value()).isZero());
		assertThat(registry().get("outbox.unserved.age").timeGauge().value()).isZero();
	}

	private void insert(String topic, String dueAt) {
		this.context.getBean(JdbcTemplate.class)
			.update("insert into outbox_event (event_id, topic, type, payload, due_at) values (?, ?, 'order', ?, "
					+ dueAt + ")", UUID.randomUUID(), topic, new byte[0]);
	}

	@Test
	void knowsNothingBeforeAScanAndWithoutItsDatabase() {
		SimpleMeterRegistry meters = new SimpleMeterRegistry();
		OutboxMetrics.gauges(Optional::empty, () -> {
			throw new IllegalStateException("away");
		}, () -> 2, () -> 3).bindTo(meters);
		for (String gauge : List.of("pending", "waiting", "blocked", "unserved", "delayed", "dead")) {
			assertThat(meters.get("outbox.events." + gauge).gauge().value()).isNaN();
		}
		assertThat(meters.get("outbox.oldest.age").timeGauge().value()).isNaN();
		assertThat(meters.get("outbox.unserved.age").timeGauge().value()).isNaN();
		assertThat(meters.get("outbox.scan.age").timeGauge().value()).isNaN();
		assertThat(meters.get("outbox.publishers.unavailable").gauge().value()).isEqualTo(2);
		assertThat(meters.get("outbox.topics.paused").gauge().value()).isEqualTo(3);
	}

	@Test
	void countsLostLeasesAndTimesDeliveries() {
		OutboxMetrics metrics = this.context.getBean(OutboxMetrics.class);
		metrics.published("test", new BatchResult(2, 0, 0, 3, 1), Duration.ofMillis(4));
		metrics.delivered("test", Duration.ofMillis(7));
		assertThat(count("outbox.lease.lost")).isEqualTo(1);
		assertThat(count("outbox.unavailable")).isEqualTo(3);
		assertThat(registry().get("outbox.commit.to.delivered").timer().count()).isEqualTo(1);
	}

	@Test
	void matchesTheDocumentedMeters() {
		append("good");
		await().untilAsserted(() -> assertThat(count("outbox.delivered")).isEqualTo(1));
		this.context.getBean(OutboxMetrics.class).unreceived("test");
		await().untilAsserted(() -> assertThat(documented()).isEqualTo(meters()));
	}

	private Map<String, String> meters() {
		return registry().getMeters()
			.stream()
			.filter((meter) -> meter.getId().getName().startsWith("outbox."))
			.collect(Collectors.toMap((meter) -> meter.getId().getName(), OutboxMetricsTests::describe,
					(one, other) -> one, TreeMap::new));
	}

	private static String describe(Meter meter) {
		String tags = meter.getId().getTags().stream().map(Tag::getKey).collect(Collectors.joining(", "));
		String kind = meter.getId().getType().name().toLowerCase(Locale.ROOT).replace('_', ' ');
		String unit = meter.getId().getBaseUnit();
		return kind + ((unit == null || kind.equals("timer")) ? "" : ", " + unit) + ";" + tags;
	}

	/**
	 * Name, and kind with unit, and tags. A timer has seconds.
	 */
	private static Map<String, String> documented() throws IOException {
		return Files.readAllLines(DOCUMENT)
			.stream()
			.filter((line) -> line.startsWith("| `outbox."))
			.map((line) -> line.replace("`", "").split("\\|"))
			.filter((cells) -> cells.length == COLUMNS)
			.collect(Collectors.toMap((cells) -> cells[1].strip(), (cells) -> cells[2].strip() + ";" + cells[3].strip(),
					(one, other) -> one, TreeMap::new));
	}

	private double count(String counter) {
		return registry().get(counter).tag("publisher", "test").counter().count();
	}

	private MeterRegistry registry() {
		return this.context.getBean(MeterRegistry.class);
	}

	private void append(String... types) {
		new TransactionTemplate(this.context.getBean(PlatformTransactionManager.class))
			.executeWithoutResult((status) -> {
				for (String type : types) {
					this.context.getBean(Outbox.class).append(OutboxEvent.of(type, 1));
				}
			});
	}

	@Configuration(proxyBeanMethods = false)
	@ImportAutoConfiguration(OutboxOperationsAutoConfiguration.class)
	static class Application {

		@Bean
		MeterRegistry registry() {
			return new SimpleMeterRegistry();
		}

		@Bean
		Object binder(MeterRegistry registry, MeterBinder gauges) {
			gauges.bindTo(registry);
			return "bound, as Boot does it";
		}

	}

}
