package dev.idempotent.metrics;

import java.time.Duration;
import java.util.Collection;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import dev.idempotent.outbox.OutboxObserver;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.DistributionSummary;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;

/**
 * Counts and times what the relay of this instance does, for each publisher.
 */
public final class OutboxMetrics implements OutboxObserver {

	private static final String PUBLISHER = "publisher";

	private final MeterRegistry registry;

	private final Map<String, Meters> meters = new ConcurrentHashMap<>();

	/**
	 * Creates meters, so that there are zeros before there are events.
	 * @param registry where they are
	 * @param publishers the prefixes of the topics
	 */
	public OutboxMetrics(MeterRegistry registry, Collection<String> publishers) {
		this.registry = registry;
		publishers.forEach(this::of);
	}

	@Override
	public void published(String publisher, BatchResult batch, Duration took) {
		Meters of = of(publisher);
		of.delivered().increment(batch.delivered());
		of.retried().increment(batch.waiting());
		of.dead().increment(batch.dead());
		of.unavailable().increment(batch.unavailable());
		of.leaseLost().increment(batch.lost());
		of.batchSize().record(batch.size());
		of.publish().record(took);
	}

	@Override
	public void delivered(String publisher, Duration sinceCommit) {
		of(publisher).commitToDelivered().record(sinceCommit);
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
			return new Meters(counter(registry, publisher, "outbox.delivered", "Events that the broker has"),
					counter(registry, publisher, "outbox.retried", "Failed attempts that are followed by another"),
					counter(registry, publisher, "outbox.dead", "Events that were given up"),
					counter(registry, publisher, "outbox.unavailable", "Events whose publisher was unavailable"),
					counter(registry, publisher, "outbox.lease.lost",
							"Events whose lease ended before their attempt did"),
					DistributionSummary.builder("outbox.batch.size")
						.description("Events published at a time")
						.baseUnit("events")
						.tag(PUBLISHER, publisher)
						.register(registry),
					timer(registry, publisher, "outbox.publish", "How long publishing a batch took"),
					timer(registry, publisher, "outbox.commit.to.delivered",
							"From commit to delivery, of events that were handed over at their commit"));
		}

		private static Counter counter(MeterRegistry registry, String publisher, String name, String description) {
			return Counter.builder(name)
				.description(description)
				.baseUnit("events")
				.tag(PUBLISHER, publisher)
				.register(registry);
		}

		private static Timer timer(MeterRegistry registry, String publisher, String name, String description) {
			return Timer.builder(name).description(description).tag(PUBLISHER, publisher).register(registry);
		}

	}

}
