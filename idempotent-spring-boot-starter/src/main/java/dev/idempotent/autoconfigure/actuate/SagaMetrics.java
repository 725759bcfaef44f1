package dev.idempotent.autoconfigure.actuate;

import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.function.IntSupplier;
import java.util.function.Supplier;
import java.util.function.ToDoubleFunction;

import dev.idempotent.saga.SagaObserver;
import dev.idempotent.saga.SagaStatus;
import dev.idempotent.saga.StepState;
import dev.idempotent.saga.engine.SagaAdministration.Counts;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter.MeterProvider;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.TimeGauge;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.binder.MeterBinder;
import org.jspecify.annotations.Nullable;

/**
 * Counters and timers of the sagas that this instance runs, and gauges of all sagas. The
 * tags have few values: sagas and steps are named in the code of the application.
 */
final class SagaMetrics implements SagaObserver {

	private static final String SAGA = "saga";

	private static final List<SagaStatus> ENDS = List.of(SagaStatus.COMPLETED, SagaStatus.COMPENSATED,
			SagaStatus.HALTED);

	private final MeterProvider<Timer> ends;

	private final MeterProvider<Timer> steps;

	private final MeterProvider<Timer> waits;

	private final MeterProvider<Counter> takenOver;

	private final MeterProvider<Counter> fenced;

	/**
	 * Creates the meters.
	 * @param registry the registry to use
	 */
	SagaMetrics(MeterRegistry registry) {
		this.ends = Timer.builder("saga.ended")
			.description("Time from the beginning of a saga to its end, or until it was halted")
			.withRegistry(registry);
		this.steps = Timer.builder("saga.step")
			.description("Calls of the actions and compensations of steps")
			.withRegistry(registry);
		this.waits = Timer.builder("saga.wait")
			.description("How long sagas have waited for signals or for some time")
			.withRegistry(registry);
		this.takenOver = Counter.builder("saga.taken.over")
			.description("Sagas that this instance took over, including those that were started in the background")
			.withRegistry(registry);
		this.fenced = Counter.builder("saga.fenced")
			.description("Sagas that another instance took over while this one ran them")
			.withRegistry(registry);
	}

	/**
	 * Gauges of the current state of sagas. All but {@code saga.running} share one
	 * reading of the database, which is cached for a few seconds; they are {@code NaN}
	 * while the database does not respond.
	 * @param counts counts sagas in the database; called at most every few seconds
	 * @param running the number of sagas that this instance runs
	 * @return a binder that must be kept as long as the gauges are to have values
	 */
	static MeterBinder gauges(Supplier<Counts> counts, IntSupplier running) {
		RecentSummary<Counts> recent = new RecentSummary<>(counts, RecentSummary.MAX_AGE);
		return (registry) -> {
			gauge(registry, "saga.open", "Sagas that have not ended and are not halted, up to 10,000 of each status",
					recent, SagaMetrics::open);
			gauge(registry, "saga.halted", "Halted sagas, which need an operator, up to 10,000", recent,
					(read) -> read.byStatus().getOrDefault(SagaStatus.HALTED, 0));
			gauge(registry, "saga.waiting", "Sagas that wait for a signal or for some time, up to 10,000", recent,
					Counts::waiting);
			gauge(registry, "saga.unserved", "Open sagas that this instance has no method for", recent,
					Counts::unserved);
			Gauge.builder("saga.running", running, IntSupplier::getAsInt)
				.description("Sagas that this instance runs")
				.register(registry);
			TimeGauge
				.builder("saga.due.age", recent, TimeUnit.MILLISECONDS,
						(age) -> age.get((counted) -> counted.oldestDue().toMillis()))
				.description("How long the oldest due saga has waited for an instance; 0 without one")
				.register(registry);
		};
	}

	private static void gauge(MeterRegistry registry, String name, String description, RecentSummary<Counts> counts,
			ToDoubleFunction<Counts> part) {
		Gauge.builder(name, counts, (recent) -> recent.get(part)).description(description).register(registry);
	}

	private static int open(Counts counts) {
		return counts.byStatus()
			.entrySet()
			.stream()
			.filter((each) -> each.getKey().isOpen())
			.mapToInt((each) -> each.getValue())
			.sum();
	}

	/**
	 * Registers the meters of sagas, so that they exist before the first saga. Meters of
	 * steps exist after the first call.
	 * @param sagas the names of the sagas
	 */
	void register(Collection<String> sagas) {
		for (String saga : sagas) {
			ENDS.forEach((status) -> end(saga, status));
			this.takenOver.withTag(SAGA, saga);
			this.fenced.withTag(SAGA, saga);
		}
	}

	@Override
	public void ended(String saga, SagaStatus status, Duration took) {
		end(saga, status).record(took);
	}

	@Override
	public void called(String saga, String step, @Nullable StepState state, Duration took) {
		this.steps.withTags(SAGA, saga, "step", step, "outcome", (state != null) ? value(state) : "unknown")
			.record(took);
	}

	@Override
	public void waited(String saga, String wait, StepState state, Duration took) {
		this.waits.withTags(SAGA, saga, "wait", wait, "outcome", value(state)).record(took);
	}

	@Override
	public void takenOver(String saga) {
		this.takenOver.withTag(SAGA, saga).increment();
	}

	@Override
	public void fenced(String saga) {
		this.fenced.withTag(SAGA, saga).increment();
	}

	private Timer end(String saga, SagaStatus status) {
		return this.ends.withTags(SAGA, saga, "status", value(status));
	}

	private static String value(Enum<?> constant) {
		return constant.name().toLowerCase(Locale.ROOT);
	}

}
