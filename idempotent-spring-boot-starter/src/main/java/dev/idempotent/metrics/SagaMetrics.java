package dev.idempotent.metrics;

import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.IntSupplier;
import java.util.function.Supplier;

import dev.idempotent.saga.SagaObserver;
import dev.idempotent.saga.SagaStatus;
import dev.idempotent.saga.StepState;
import dev.idempotent.saga.run.SagaAdministration.Counts;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.binder.MeterBinder;
import org.jspecify.annotations.Nullable;

/**
 * Counters and timers of the sagas that this instance runs. The tags have few values:
 * sagas and steps are named in the code of the application.
 */
public final class SagaMetrics implements SagaObserver {

	private static final String SAGA = "saga";

	private static final List<SagaStatus> ENDS = List.of(SagaStatus.COMPLETED, SagaStatus.COMPENSATED,
			SagaStatus.HALTED);

	private final MeterRegistry registry;

	private final Map<EndTags, Timer> ends = new ConcurrentHashMap<>();

	private final Map<StepTags, Timer> steps = new ConcurrentHashMap<>();

	private final Map<String, Counter> takenOver = new ConcurrentHashMap<>();

	private final Map<String, Counter> fenced = new ConcurrentHashMap<>();

	/**
	 * Creates the meters.
	 * @param registry the registry to use
	 */
	public SagaMetrics(MeterRegistry registry) {
		this.registry = registry;
	}

	/**
	 * Gauges of the current state of sagas.
	 * @param counts counts sagas in the database; called at most every few seconds
	 * @param running the number of sagas that this instance runs
	 * @return a binder that must be kept as long as the gauges are to have values
	 */
	public static MeterBinder gauges(Supplier<Counts> counts, IntSupplier running) {
		return new SagaGauges(counts, running);
	}

	/**
	 * Registers the meters of sagas, so that they exist before the first saga. Those of
	 * steps exist after the first call.
	 * @param sagas the names of the sagas
	 */
	public void register(Collection<String> sagas) {
		for (String saga : sagas) {
			ENDS.forEach((status) -> end(saga, status));
			takenOverOf(saga);
			fencedOf(saga);
		}
	}

	@Override
	public void ended(String saga, SagaStatus status, Duration took) {
		end(saga, status).record(took);
	}

	@Override
	public void called(String saga, String step, @Nullable StepState state, Duration took) {
		this.steps.computeIfAbsent(new StepTags(saga, step, state), this::call).record(took);
	}

	@Override
	public void takenOver(String saga) {
		takenOverOf(saga).increment();
	}

	@Override
	public void fenced(String saga) {
		fencedOf(saga).increment();
	}

	private Timer end(String saga, SagaStatus status) {
		return this.ends.computeIfAbsent(new EndTags(saga, status),
				(tags) -> Timer.builder("saga.ended")
					.description("Time from the beginning of a saga to its end, or until it was halted")
					.tag(SAGA, tags.saga())
					.tag("status", value(tags.status()))
					.register(this.registry));
	}

	private Timer call(StepTags tags) {
		return Timer.builder("saga.step")
			.description("Calls of the actions and compensations of steps")
			.tag(SAGA, tags.saga())
			.tag("step", tags.step())
			.tag("outcome", (tags.state() != null) ? value(tags.state()) : "unknown")
			.register(this.registry);
	}

	private Counter takenOverOf(String saga) {
		return this.takenOver.computeIfAbsent(saga, (name) -> Counter.builder("saga.taken.over")
			.description("Sagas that this instance took over, including those that were started in the background")
			.tag(SAGA, name)
			.register(this.registry));
	}

	private Counter fencedOf(String saga) {
		return this.fenced.computeIfAbsent(saga,
				(name) -> Counter.builder("saga.fenced")
					.description("Sagas that another instance took over while this one ran them")
					.tag(SAGA, name)
					.register(this.registry));
	}

	private static String value(Enum<?> constant) {
		return constant.name().toLowerCase(Locale.ROOT);
	}

	private record EndTags(String saga, SagaStatus status) {
	}

	private record StepTags(String saga, String step, @Nullable StepState state) {
	}

}
