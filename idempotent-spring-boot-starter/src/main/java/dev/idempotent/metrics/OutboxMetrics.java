package dev.idempotent.metrics;

import java.time.Duration;
import java.util.Collection;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.IntSupplier;
import java.util.function.Supplier;
import java.util.function.ToLongFunction;

import dev.idempotent.outbox.OutboxBacklog;
import dev.idempotent.outbox.OutboxObserver;
import dev.idempotent.outbox.OutboxSummary;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.DistributionSummary;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.TimeGauge;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.binder.MeterBinder;

/**
 * Counters and timers of this instance's relay, for each publisher, and gauges of the
 * outbox.
 */
public final class OutboxMetrics implements OutboxObserver {

	private static final String PUBLISHER = "publisher";

	private static final Duration MAX_AGE = Duration.ofSeconds(5);

	private final MeterRegistry registry;

	private final Map<String, Meters> meters = new ConcurrentHashMap<>();

	/**
	 * Registers the meters, so that they exist before the first event.
	 * @param registry the registry to use
	 * @param publishers the prefixes of the topics
	 */
	public OutboxMetrics(MeterRegistry registry, Collection<String> publishers) {
		this.registry = registry;
		publishers.forEach(this::of);
	}

	/**
	 * Gauges of the current state of the outbox. Those of the backlog have no value
	 * before the relay of this instance has read the table of events.
	 * @param backlog what the relay found when it last read the table of events
	 * @param summary queries the other events; called at most every few seconds
	 * @param unavailablePublishers the number of publishers that are unavailable to this
	 * instance
	 * @param pausedTopics the number of paused topics that this instance knows of
	 * @return a binder of the gauges
	 */
	public static MeterBinder gauges(Supplier<Optional<OutboxBacklog>> backlog, Supplier<OutboxSummary> summary,
			IntSupplier unavailablePublishers, IntSupplier pausedTopics) {
		RecentSummary<OutboxSummary> recent = new RecentSummary<>(summary, MAX_AGE);
		return (registry) -> {
			gauge(registry, "outbox.events.pending", "Events at the last scan", of(backlog, OutboxBacklog::events));
			gauge(registry, "outbox.events.waiting",
					"Events at the last scan that wait for another attempt or are leased, one of each key",
					of(backlog, OutboxBacklog::waiting));
			gauge(registry, "outbox.events.blocked", "Events at the last scan that block their keys",
					of(backlog, OutboxBacklog::blocked));
			gauge(registry, "outbox.events.delayed", "Events that are to be delivered later, up to 10,000", () -> {
				OutboxSummary known = recent.get();
				return (known != null) ? known.delayed().events() : Double.NaN;
			});
			gauge(registry, "outbox.events.dead", "Dead events, up to 10,000", () -> {
				OutboxSummary known = recent.get();
				return (known != null) ? known.dead().events() : Double.NaN;
			});
			gauge(registry, "outbox.publishers.unavailable", "Publishers that are unavailable to this instance",
					unavailablePublishers::getAsInt);
			gauge(registry, "outbox.topics.paused", "Paused topics that this instance knows of",
					pausedTopics::getAsInt);
			age(registry, "outbox.oldest.age", "Age at the last scan of the oldest event without a failed attempt",
					of(backlog, (found) -> found.oldestAge().toMillis()));
			age(registry, "outbox.scan.age", "Time since the last scan of all events",
					of(backlog, (found) -> found.age().toMillis()));
		};
	}

	private static Supplier<Number> of(Supplier<Optional<OutboxBacklog>> backlog, ToLongFunction<OutboxBacklog> value) {
		return () -> backlog.get().<Number>map(value::applyAsLong).orElse(Double.NaN);
	}

	/**
	 * Registers a gauge without a base unit, which Prometheus would append to a name that
	 * contains it already.
	 */
	private static void gauge(MeterRegistry registry, String name, String description, Supplier<Number> value) {
		Gauge.builder(name, value).description(description).strongReference(true).register(registry);
	}

	private static void age(MeterRegistry registry, String name, String description, Supplier<Number> millis) {
		TimeGauge.builder(name, millis, TimeUnit.MILLISECONDS)
			.description(description)
			.strongReference(true)
			.register(registry);
	}

	@Override
	public void published(String publisher, BatchResult batch, Duration took) {
		Meters of = of(publisher);
		of.delivered().increment(batch.delivered());
		of.retried().increment(batch.waiting());
		of.dead().increment(batch.dead());
		of.unavailable().increment(batch.unavailable());
		of.leaseLost().increment(batch.leaseLost());
		of.batchSize().record(batch.size());
		of.publish().record(took);
	}

	@Override
	public void delivered(String publisher, Duration sinceCommit) {
		of(publisher).commitToDelivered().record(sinceCommit);
	}

	@Override
	public void unreceived(String publisher) {
		Counter.builder("outbox.unreceived")
			.description("Delivered events that no client has received")
			.tag(PUBLISHER, publisher)
			.register(this.registry)
			.increment();
	}

	private Meters of(String publisher) {
		return this.meters.computeIfAbsent(publisher, (prefix) -> Meters.of(this.registry, prefix));
	}

	/**
	 * The meters of one publisher.
	 */
	private record Meters(Counter delivered, Counter retried, Counter dead, Counter unavailable, Counter leaseLost,
			DistributionSummary batchSize, Timer publish, Timer commitToDelivered) {

		static Meters of(MeterRegistry registry, String publisher) {
			return new Meters(counter(registry, publisher, "outbox.delivered", "Delivered events"),
					counter(registry, publisher, "outbox.retried", "Failed attempts that are followed by another"),
					counter(registry, publisher, "outbox.dead", "Events that became dead"),
					counter(registry, publisher, "outbox.unavailable", "Events whose publisher was unavailable"),
					counter(registry, publisher, "outbox.lease.lost",
							"Events whose lease expired before the attempt ended"),
					DistributionSummary.builder("outbox.batch.size")
						.description("Events per published batch")
						.tag(PUBLISHER, publisher)
						.register(registry),
					timer(registry, publisher, "outbox.publish", "Duration of publishing a batch"),
					timer(registry, publisher, "outbox.commit.to.delivered",
							"Time from commit to delivery of events that their commit announced to the relay of the same process"));
		}

		private static Counter counter(MeterRegistry registry, String publisher, String name, String description) {
			return Counter.builder(name).description(description).tag(PUBLISHER, publisher).register(registry);
		}

		private static Timer timer(MeterRegistry registry, String publisher, String name, String description) {
			return Timer.builder(name).description(description).tag(PUBLISHER, publisher).register(registry);
		}

	}

}
