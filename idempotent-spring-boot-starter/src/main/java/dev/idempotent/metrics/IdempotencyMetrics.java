package dev.idempotent.metrics;

import java.time.Duration;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.IntSupplier;
import java.util.function.Supplier;

import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.IdempotencyObserver;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.TimeGauge;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.binder.MeterBinder;

/**
 * Counters and timers of idempotent requests and calls, and of the store of their keys.
 * The tags have few values: operations are named in the code of the application.
 */
public final class IdempotencyMetrics implements IdempotencyObserver {

	private final MeterRegistry registry;

	private final Map<RequestTags, Timer> requests = new ConcurrentHashMap<>();

	private final Map<StoreTags, Timer> store = new ConcurrentHashMap<>();

	private final Map<StoreTags, Counter> settlements = new ConcurrentHashMap<>();

	private final Counter leasesRenewed;

	private final Counter leasesLost;

	/**
	 * Creates the meters.
	 * @param registry the registry to use
	 */
	public IdempotencyMetrics(MeterRegistry registry) {
		this.registry = registry;
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
	 * @param oldestUnsettled the age of the oldest unsettled key
	 * @return a binder that must be kept as long as the gauges are to have values
	 */
	public static MeterBinder gauges(IntSupplier running, IntSupplier settlementsWaiting,
			Supplier<Duration> oldestUnsettled) {
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
		this.requests.computeIfAbsent(new RequestTags(decision.operation(), decision.outcome()), this::request)
			.record(decision.took());
	}

	@Override
	public void storeCalled(String name, StoreVerb verb, StoreResult result, Duration took) {
		this.store.computeIfAbsent(new StoreTags(name, verb, result), this::storeCall).record(took);
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
		this.settlements.computeIfAbsent(new StoreTags("", verb, result), this::settlement).increment();
	}

	private Timer request(RequestTags tags) {
		return Timer.builder("idempotency.requests")
			.description("Idempotent requests and calls, including the work of those that ran")
			.tag("kind", value(tags.operation().kind()))
			.tag("operation", tags.operation().name())
			.tag("guarantee", value(tags.operation().guarantee()))
			.tag("outcome", value(tags.outcome()))
			.register(this.registry);
	}

	private Timer storeCall(StoreTags tags) {
		return Timer.builder("idempotency.store")
			.description("Calls of the store of the keys, and claims in the database")
			.tag("store", tags.store())
			.tag("verb", value(tags.verb()))
			.tag("outcome", value(tags.result()))
			.register(this.registry);
	}

	private Counter settlement(StoreTags tags) {
		return Counter.builder("idempotency.settlements.retried")
			.description("Repeated attempts to settle a key because the store had not answered")
			.tag("verb", value(tags.verb()))
			.tag("outcome", (tags.result() == StoreResult.ANSWERED) ? "settled" : value(tags.result()))
			.register(this.registry);
	}

	private static String value(Enum<?> constant) {
		return constant.name().toLowerCase(Locale.ROOT).replace('_', '-');
	}

	private record RequestTags(Operation operation, Outcome outcome) {
	}

	private record StoreTags(String store, StoreVerb verb, StoreResult result) {
	}

}
