package dev.idempotent.metrics;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.IntSupplier;
import java.util.function.Supplier;
import java.util.function.ToDoubleFunction;

import dev.idempotent.outbox.OutboxSummary;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.TimeGauge;
import io.micrometer.core.instrument.binder.MeterBinder;

/**
 * Gauges of the current state of the outbox. All share one query of the database, which
 * is cached for a few seconds; they are {@code NaN} while the database does not respond.
 */
final class OutboxGauges implements MeterBinder {

	private static final Duration MAX_AGE = Duration.ofSeconds(5);

	private final RecentSummary<OutboxSummary> summary;

	private final IntSupplier queued;

	private final IntSupplier unavailablePublishers;

	private final IntSupplier pausedTopics;

	OutboxGauges(Supplier<OutboxSummary> summary, IntSupplier queued, IntSupplier unavailablePublishers,
			IntSupplier pausedTopics) {
		this(summary, queued, unavailablePublishers, pausedTopics, MAX_AGE);
	}

	OutboxGauges(Supplier<OutboxSummary> summary, IntSupplier queued, IntSupplier unavailablePublishers,
			IntSupplier pausedTopics, Duration maxAge) {
		this.summary = new RecentSummary<>(summary, maxAge);
		this.queued = queued;
		this.unavailablePublishers = unavailablePublishers;
		this.pausedTopics = pausedTopics;
	}

	@Override
	public void bindTo(MeterRegistry registry) {
		gauge(registry, "outbox.events.pending", "Events without a failed attempt, up to 10,000",
				(gauges) -> gauges.read((summary) -> summary.pending().events()));
		gauge(registry, "outbox.events.waiting", "Events that wait for their next attempt, up to 10,000",
				(gauges) -> gauges.read((summary) -> summary.waiting().events()));
		gauge(registry, "outbox.events.ordered", "Events that their keys order, up to 10,000",
				(gauges) -> gauges.read((summary) -> summary.ordered().events()));
		gauge(registry, "outbox.events.blocked", "Events that block their keys, among the ordered ones counted",
				(gauges) -> gauges.read(OutboxSummary::blocked));
		gauge(registry, "outbox.events.dead", "Dead events, up to 10,000",
				(gauges) -> gauges.read((summary) -> summary.dead().events()));
		gauge(registry, "outbox.events.queued", "Events in this instance's memory after their commit",
				(gauges) -> gauges.queued.getAsInt());
		gauge(registry, "outbox.publishers.unavailable", "Publishers that are unavailable to this instance",
				(gauges) -> gauges.unavailablePublishers.getAsInt());
		gauge(registry, "outbox.topics.paused", "Paused topics that this instance knows of",
				(gauges) -> gauges.pausedTopics.getAsInt());
		TimeGauge
			.builder("outbox.oldest.age", this, TimeUnit.MILLISECONDS,
					(gauges) -> gauges.read((summary) -> summary.oldestPendingAge().toMillis()))
			.description("Age of the oldest pending event")
			.register(registry);
	}

	/**
	 * Registers a gauge without a base unit, which Prometheus would append to a name that
	 * contains it already.
	 */
	private void gauge(MeterRegistry registry, String name, String description, ToDoubleFunction<OutboxGauges> value) {
		Gauge.builder(name, this, value).description(description).register(registry);
	}

	private double read(ToDoubleFunction<OutboxSummary> part) {
		OutboxSummary recent = this.summary.get();
		return (recent != null) ? part.applyAsDouble(recent) : Double.NaN;
	}

}
