package dev.idempotent.metrics;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;

import dev.idempotent.outbox.EventCount;
import dev.idempotent.outbox.OutboxSummary;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Tests for what {@link OutboxGauges} ask of a database.
 */
class RecentSummaryTests {

	private static final EventCount ONE = new EventCount(1, true);

	private static final OutboxSummary SUMMARY = new OutboxSummary(ONE, ONE, ONE, 0, ONE, 0, Duration.ofSeconds(3));

	private final AtomicInteger reads = new AtomicInteger();

	private final SimpleMeterRegistry registry = new SimpleMeterRegistry();

	@Test
	void isReadOnceForAllGauges() {
		OutboxGauges gauges = bind(() -> SUMMARY, Duration.ofHours(1));
		assertThat(this.registry.get("outbox.events.pending").gauge().value()).isEqualTo(1);
		assertThat(this.registry.get("outbox.events.waiting").gauge().value()).isEqualTo(1);
		assertThat(this.registry.get("outbox.events.dead").gauge().value()).isEqualTo(1);
		assertThat(this.registry.get("outbox.oldest.age")
			.timeGauge()
			.value(this.registry.get("outbox.oldest.age").timeGauge().baseTimeUnit())).isEqualTo(3);
		assertThat(this.reads).hasValue(1);
		assertThat(gauges).isNotNull();
	}

	@Test
	void isRefreshedWhenItIsTooOld() {
		OutboxGauges gauges = bind(() -> SUMMARY, Duration.ofMillis(5));
		await().until(() -> {
			this.registry.get("outbox.events.pending").gauge().value();
			return this.reads.get() >= 3;
		});
		assertThat(gauges).isNotNull();
	}

	@Test
	void hasNoValueWhileTheDatabaseFailsAndDoesNotQueryEachTime() {
		OutboxGauges gauges = bind(() -> {
			throw new IllegalStateException("away");
		}, Duration.ofHours(1));
		assertThat(this.registry.get("outbox.events.pending").gauge().value()).isNaN();
		assertThat(this.registry.get("outbox.oldest.age").timeGauge().value()).isNaN();
		assertThat(this.registry.get("outbox.events.queued").gauge().value()).isEqualTo(4);
		assertThat(this.registry.get("outbox.publishers.unavailable").gauge().value()).isEqualTo(2);
		assertThat(this.registry.get("outbox.topics.paused").gauge().value()).isEqualTo(3);
		assertThat(this.reads).hasValue(1);
		assertThat(gauges).isNotNull();
	}

	private OutboxGauges bind(Supplier<OutboxSummary> source, Duration maxAge) {
		OutboxGauges gauges = new OutboxGauges(() -> {
			this.reads.incrementAndGet();
			return source.get();
		}, () -> 4, () -> 2, () -> 3, maxAge);
		gauges.bindTo(this.registry);
		return gauges;
	}

}
