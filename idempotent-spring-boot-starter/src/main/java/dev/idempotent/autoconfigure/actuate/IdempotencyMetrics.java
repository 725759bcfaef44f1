package dev.idempotent.autoconfigure.actuate;

import java.time.Duration;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.function.IntSupplier;
import java.util.function.Supplier;

import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.IdempotencyObserver;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter.MeterProvider;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.TimeGauge;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.binder.MeterBinder;

/**
 * Counters and timers of idempotent requests and calls, and of the store of their keys.
 * The tags have few values: operations are named in the code of the application.
 */
final class IdempotencyMetrics implements IdempotencyObserver {

	private static final String OUTCOME = "outcome";

	private static final String VERB = "verb";

	private final MeterProvider<Timer> requests;

	private final MeterProvider<Timer> store;

	private final MeterProvider<Counter> settlements;

	private final Counter leasesRenewed;

	private final Counter leasesLost;

	IdempotencyMetrics(MeterRegistry registry) {
		this.requests = Timer.builder("idempotency.requests")
			.description("Idempotent requests and calls, including the work of those that ran")
			.withRegistry(registry);
		this.store = Timer.builder("idempotency.store")
			.description("Calls of the store of the keys, and claims in the database")
			.withRegistry(registry);
		this.settlements = Counter.builder("idempotency.settlements.retried")
			.description("Repeated attempts to settle a key because the store had not answered")
			.withRegistry(registry);
		this.leasesRenewed = Counter.builder("idempotency.leases.renewed")
			.description("Renewed leases of runs in progress")
			.register(registry);
		this.leasesLost = Counter.builder("idempotency.leases.lost")
			.description("Leases that expired before their run was settled, so that the work may have run twice")
			.register(registry);
	}

	/**
	 * Gauges of the runs of this instance.
	 * @param running the number of runs in progress
	 * @param settlementsWaiting the number of keys that are still to be settled
	 * @param oldestUnsettled the age of the oldest key that was neither completed nor
	 * released
	 * @return a binder that must be kept as long as the gauges are to have values
	 */
	static MeterBinder gauges(IntSupplier running, IntSupplier settlementsWaiting, Supplier<Duration> oldestUnsettled) {
		return (registry) -> {
			Gauge.builder("idempotency.runs.active", running::getAsInt)
				.description("Runs in progress in this instance")
				.strongReference(true)
				.register(registry);
			Gauge.builder("idempotency.settlements.waiting", settlementsWaiting::getAsInt)
				.description("Keys that this instance is still to settle because the store did not respond")
				.strongReference(true)
				.register(registry);
			TimeGauge
				.builder("idempotency.unsettled.age", () -> oldestUnsettled.get().toMillis(), TimeUnit.MILLISECONDS)
				.description("Age of the oldest key of this instance that is not settled; 0 without one")
				.strongReference(true)
				.register(registry);
		};
	}

	@Override
	public void decided(Decision decision) {
		Operation operation = decision.operation();
		this.requests
			.withTags("kind", value(operation.kind()), "operation", operation.name(), "guarantee",
					value(operation.guarantee()), OUTCOME, value(decision.outcome()))
			.record(decision.took());
	}

	@Override
	public void storeCalled(String name, StoreVerb verb, StoreResult result, Duration took) {
		this.store.withTags("store", name, VERB, value(verb), OUTCOME, value(result)).record(took);
	}

	@Override
	public void leasesRenewed(int leases) {
		this.leasesRenewed.increment(leases);
	}

	@Override
	public void leaseLost(IdempotencyKey key) {
		this.leasesLost.increment();
	}

	@Override
	public void settlementRetried(StoreVerb verb, StoreResult result) {
		this.settlements
			.withTags(VERB, value(verb), OUTCOME, (result == StoreResult.ANSWERED) ? "settled" : value(result))
			.increment();
	}

	private static String value(Enum<?> constant) {
		return constant.name().toLowerCase(Locale.ROOT).replace('_', '-');
	}

}
