package dev.idempotent.metrics;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.IntSupplier;
import java.util.function.Supplier;
import java.util.function.ToDoubleFunction;

import dev.idempotent.saga.SagaStatus;
import dev.idempotent.saga.run.SagaAdministration.Counts;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.TimeGauge;
import io.micrometer.core.instrument.binder.MeterBinder;

/**
 * Gauges of the current state of sagas. All but {@code saga.running} share one reading of
 * the database, which is cached for a few seconds; they are {@code NaN} while the
 * database does not respond.
 */
final class SagaGauges implements MeterBinder {

	private static final Duration MAX_AGE = Duration.ofSeconds(5);

	private final RecentSummary<Counts> counts;

	private final IntSupplier running;

	SagaGauges(Supplier<Counts> counts, IntSupplier running) {
		this(counts, running, MAX_AGE);
	}

	SagaGauges(Supplier<Counts> counts, IntSupplier running, Duration maxAge) {
		this.counts = new RecentSummary<>(counts, maxAge);
		this.running = running;
	}

	@Override
	public void bindTo(MeterRegistry registry) {
		gauge(registry, "saga.open", "Sagas that have not ended and are not halted, up to 10,000 of each status",
				(gauges) -> gauges.read(SagaGauges::open));
		gauge(registry, "saga.halted", "Halted sagas, which need an operator, up to 10,000",
				(gauges) -> gauges.read((counts) -> counts.byStatus().getOrDefault(SagaStatus.HALTED, 0)));
		gauge(registry, "saga.unserved", "Open sagas that this instance has no method for",
				(gauges) -> gauges.read(Counts::unserved));
		gauge(registry, "saga.running", "Sagas that this instance runs", (gauges) -> gauges.running.getAsInt());
		TimeGauge
			.builder("saga.due.age", this, TimeUnit.MILLISECONDS,
					(gauges) -> gauges.read((counts) -> counts.oldestDue().toMillis()))
			.description("How long the oldest due saga has waited for an instance; 0 without one")
			.register(registry);
	}

	private void gauge(MeterRegistry registry, String name, String description, ToDoubleFunction<SagaGauges> value) {
		Gauge.builder(name, this, value).description(description).register(registry);
	}

	private double read(ToDoubleFunction<Counts> part) {
		Counts recent = this.counts.get();
		return (recent != null) ? part.applyAsDouble(recent) : Double.NaN;
	}

	private static int open(Counts counts) {
		return counts.byStatus()
			.entrySet()
			.stream()
			.filter((each) -> each.getKey().isOpen())
			.mapToInt((each) -> each.getValue())
			.sum();
	}

}
