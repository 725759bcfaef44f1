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
 * How the outbox does at this moment. The database is asked once for all gauges, and not
 * more often than every few seconds; while it does not answer, they have no value (NaN).
 */
public final class OutboxGauges implements MeterBinder {

	private static final String EVENTS = "events";

	private static final Duration MAX_AGE = Duration.ofSeconds(5);

	private final RecentSummary summary;

	private final IntSupplier queued;

	private final IntSupplier unavailablePublishers;

	/**
	 * Creates gauges that are not bound yet. They live as long as this object.
	 * @param summary reads the summary
	 * @param queued tells how many events wait in this instance's memory
	 * @param unavailablePublishers tells how many publishers this instance does not reach
	 */
	public OutboxGauges(Supplier<OutboxSummary> summary, IntSupplier queued, IntSupplier unavailablePublishers) {
		this(summary, queued, unavailablePublishers, MAX_AGE);
	}

	OutboxGauges(Supplier<OutboxSummary> summary, IntSupplier queued, IntSupplier unavailablePublishers,
			Duration maxAge) {
		this.summary = new RecentSummary(summary, maxAge);
		this.queued = queued;
		this.unavailablePublishers = unavailablePublishers;
	}

	@Override
	public void bindTo(MeterRegistry registry) {
		gauge(registry, "outbox.events.pending", EVENTS, "Events that nobody has failed to deliver yet, up to 10,000",
				(gauges) -> gauges.read((summary) -> summary.pending().events()));
		gauge(registry, "outbox.events.waiting", EVENTS, "Events that wait for another attempt, up to 10,000",
				(gauges) -> gauges.read((summary) -> summary.waiting().events()));
		gauge(registry, "outbox.events.dead", EVENTS, "Events that were given up and are kept, up to 10,000",
				(gauges) -> gauges.read((summary) -> summary.dead().events()));
		gauge(registry, "outbox.events.queued", EVENTS, "Events in this instance's memory after their commit",
				(gauges) -> gauges.queued.getAsInt());
		gauge(registry, "outbox.publishers.unavailable", "publishers", "Publishers that this instance does not reach",
				(gauges) -> gauges.unavailablePublishers.getAsInt());
		TimeGauge
			.builder("outbox.oldest.age", this, TimeUnit.MILLISECONDS,
					(gauges) -> gauges.read((summary) -> summary.oldestPendingAge().toMillis()))
			.description("How long ago the oldest pending event was appended")
			.register(registry);
	}

	private void gauge(MeterRegistry registry, String name, String unit, String description,
			ToDoubleFunction<OutboxGauges> value) {
		Gauge.builder(name, this, value).description(description).baseUnit(unit).register(registry);
	}

	private double read(ToDoubleFunction<OutboxSummary> part) {
		OutboxSummary recent = this.summary.get();
		return (recent != null) ? part.applyAsDouble(recent) : Double.NaN;
	}

}
