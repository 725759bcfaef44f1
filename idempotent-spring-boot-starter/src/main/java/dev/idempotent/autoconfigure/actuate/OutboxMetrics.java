package dev.idempotent.autoconfigure.actuate;

import java.time.Duration;
import java.util.Collection;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.IntSupplier;
import java.util.function.Supplier;
import java.util.function.ToLongFunction;
import java.util.stream.Stream;

import dev.idempotent.outbox.OutboxObserver;
import dev.idempotent.outbox.jdbc.OutboxOperations.OutboxBacklog;
import dev.idempotent.outbox.jdbc.OutboxOperations.OutboxSummary;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.DistributionSummary;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter.MeterProvider;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.TimeGauge;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.binder.MeterBinder;

/**
 * Counters and timers of this instance's relay, for each publisher, and gauges of the
 * outbox.
 */
final class OutboxMetrics implements OutboxObserver {

	private static final String PUBLISHER = "publisher";

	private final MeterProvider<Counter> delivered;

	private final MeterProvider<Counter> retried;

	private final MeterProvider<Counter> dead;

	private final MeterProvider<Counter> unavailable;

	private final MeterProvider<Counter> leaseLost;

	private final MeterProvider<Counter> unreceived;

	private final MeterProvider<DistributionSummary> batchSize;

	private final MeterProvider<Timer> publish;

	private final MeterProvider<Timer> commitToDelivered;

	/**
	 * Registers the meters, so that they exist before the first event. The meter of
	 * unreceived events exists only for publishers that know of them.
	 * @param registry the registry to use
	 * @param publishers the prefixes of the topics
	 */
	OutboxMetrics(MeterRegistry registry, Collection<String> publishers) {
		this.delivered = counter(registry, "outbox.delivered", "Delivered events");
		this.retried = counter(registry, "outbox.retried", "Failed attempts that are followed by another");
		this.dead = counter(registry, "outbox.dead", "Events that became dead");
		this.unavailable = counter(registry, "outbox.unavailable", "Events whose publisher or handler was unavailable");
		this.leaseLost = counter(registry, "outbox.lease.lost", "Events whose lease expired before the attempt ended");
		this.unreceived = counter(registry, "outbox.unreceived", "Delivered events that no client has received");
		this.batchSize = DistributionSummary.builder("outbox.batch.size")
			.description("Events per published batch")
			.withRegistry(registry);
		this.publish = timer(registry, "outbox.publish", "Duration of publishing a batch");
		this.commitToDelivered = timer(registry, "outbox.commit.to.delivered",
				"Time from commit to delivery of events that their commit announced to the relay of the same process");
		publishers.forEach((publisher) -> Stream
			.of(this.delivered, this.retried, this.dead, this.unavailable, this.leaseLost, this.batchSize, this.publish,
					this.commitToDelivered)
			.forEach((meter) -> meter.withTag(PUBLISHER, publisher)));
	}

	private static MeterProvider<Counter> counter(MeterRegistry registry, String name, String description) {
		return Counter.builder(name).description(description).withRegistry(registry);
	}

	private static MeterProvider<Timer> timer(MeterRegistry registry, String name, String description) {
		return Timer.builder(name).description(description).withRegistry(registry);
	}

	/**
	 * Gauges of the current state of the outbox. The gauges of the backlog have no value
	 * before the relay of this instance has read the table of events.
	 * @param backlog what the relay found when it last read the table of events
	 * @param summary queries the other events; called at most every few seconds
	 * @param unavailablePublishers the number of publishers that are unavailable to this
	 * instance
	 * @param pausedTopics the number of paused topics that this instance knows of
	 * @return a binder of the gauges
	 */
	static MeterBinder gauges(Supplier<Optional<OutboxBacklog>> backlog, Supplier<OutboxSummary> summary,
			IntSupplier unavailablePublishers, IntSupplier pausedTopics) {
		RecentSummary<OutboxSummary> recent = new RecentSummary<>(summary, RecentSummary.MAX_AGE);
		return (registry) -> {
			gauge(registry, "outbox.events.pending", "Events at the last scan", of(backlog, OutboxBacklog::events));
			gauge(registry, "outbox.events.waiting",
					"Events at the last scan that wait for another attempt or are leased, one of each key",
					of(backlog, OutboxBacklog::waiting));
			gauge(registry, "outbox.events.blocked", "Events at the last scan that block their keys",
					of(backlog, OutboxBacklog::blocked));
			gauge(registry, "outbox.events.unserved",
					"Due events at the last scan for which this instance has no publisher or handler, at least",
					of(backlog, OutboxBacklog::unservedEvents));
			gauge(registry, "outbox.events.delayed", "Events that are to be delivered later, up to 10,000",
					() -> recent.get((known) -> known.delayed().events()));
			gauge(registry, "outbox.events.dead", "Dead events, up to 10,000",
					() -> recent.get((known) -> known.dead().events()));
			gauge(registry, "outbox.publishers.unavailable",
					"Publishers and handlers that are unavailable to this instance", unavailablePublishers::getAsInt);
			gauge(registry, "outbox.topics.paused", "Paused topics that this instance knows of",
					pausedTopics::getAsInt);
			age(registry, "outbox.oldest.age", "Age at the last scan of the oldest event without a failed attempt",
					of(backlog, (found) -> found.oldestAge().toMillis()));
			age(registry, "outbox.unserved.age",
					"How long the oldest event for which this instance has no publisher or handler has been due",
					of(backlog, (found) -> found.unservedFor().toMillis()));
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
		this.delivered.withTag(PUBLISHER, publisher).increment(batch.delivered());
		this.retried.withTag(PUBLISHER, publisher).increment(batch.waiting());
		this.dead.withTag(PUBLISHER, publisher).increment(batch.dead());
		this.unavailable.withTag(PUBLISHER, publisher).increment(batch.unavailable());
		this.leaseLost.withTag(PUBLISHER, publisher).increment(batch.leaseLost());
		this.batchSize.withTag(PUBLISHER, publisher).record(batch.size());
		this.publish.withTag(PUBLISHER, publisher).record(took);
	}

	@Override
	public void delivered(String publisher, Duration sinceCommit) {
		this.commitToDelivered.withTag(PUBLISHER, publisher).record(sinceCommit);
	}

	@Override
	public void unreceived(String publisher) {
		this.unreceived.withTag(PUBLISHER, publisher).increment();
	}

}
