package dev.idempotent.metrics;

import java.time.Duration;
import java.util.Collection;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.IntSupplier;
import java.util.function.Supplier;

import dev.idempotent.outbox.OutboxObserver;
import dev.idempotent.outbox.OutboxSummary;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.DistributionSummary;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.binder.MeterBinder;

/**
 * Counters and timers of this instance's relay, for each publisher.
 */
public final class OutboxMetrics implements OutboxObserver {

	private static final String PUBLISHER = "publisher";

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
	 * Gauges of the current state of the outbox.
	 * @param summary queries the summary; called at most every few seconds
	 * @param queued the number of events in this instance's memory
	 * @param unavailablePublishers the number of publishers that are unavailable to this
	 * instance
	 * @param pausedTopics the number of paused topics that this instance knows of
	 * @return a binder that must be kept as long as the gauges are to have values
	 */
	public static MeterBinder gauges(Supplier<OutboxSummary> summary, IntSupplier queued,
			IntSupplier unavailablePublishers, IntSupplier pausedTopics) {
		return new OutboxGauges(summary, queued, unavailablePublishers, pausedTopics);
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
							"Time from commit to delivery of events that were handed over at commit"));
		}

		private static Counter counter(MeterRegistry registry, String publisher, String name, String description) {
			return Counter.builder(name).description(description).tag(PUBLISHER, publisher).register(registry);
		}

		private static Timer timer(MeterRegistry registry, String publisher, String name, String description) {
			return Timer.builder(name).description(description).tag(PUBLISHER, publisher).register(registry);
		}

	}

}
