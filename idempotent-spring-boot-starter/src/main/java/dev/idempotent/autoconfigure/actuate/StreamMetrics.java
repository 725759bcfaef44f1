package dev.idempotent.autoconfigure.actuate;

import java.time.Duration;
import java.util.Collection;
import java.util.Map;
import java.util.function.Supplier;
import java.util.function.ToDoubleFunction;

import dev.idempotent.stream.ConsumerGroup;
import dev.idempotent.stream.StreamInspector.GroupBacklog;
import dev.idempotent.stream.StreamObserver;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;

/**
 * Meters of this process's stream listeners, for each group. The gauges share one reading
 * of Redis, which is cached for a few seconds; they are {@code NaN} while Redis does not
 * respond and where it does not know the number.
 */
final class StreamMetrics implements StreamObserver {

	private final MeterRegistry registry;

	private final RecentSummary<Map<ConsumerGroup, GroupBacklog>> backlogs;

	private final boolean timesEntries;

	/**
	 * Creates an observer, which registers the meters once the groups are known.
	 * @param registry the registry to use
	 * @param backlogs reads the backlogs; called at most every few seconds
	 * @param timesEntries whether to record {@code stream.process}, which an observation
	 * of the same name may do instead
	 */
	StreamMetrics(MeterRegistry registry, Supplier<Map<ConsumerGroup, GroupBacklog>> backlogs, boolean timesEntries) {
		this(registry, backlogs, timesEntries, RecentSummary.MAX_AGE);
	}

	StreamMetrics(MeterRegistry registry, Supplier<Map<ConsumerGroup, GroupBacklog>> backlogs, boolean timesEntries,
			Duration maxAge) {
		this.registry = registry;
		this.backlogs = new RecentSummary<>(backlogs, maxAge);
		this.timesEntries = timesEntries;
	}

	@Override
	public void listening(Collection<ConsumerGroup> groups) {
		groups.forEach((group) -> {
			redelivered(group);
			dead(group);
			gauge(group, "stream.lag", "Entries that were not delivered yet", (backlog) -> {
				Long lag = backlog.lag();
				return (lag != null) ? lag : Double.NaN;
			});
			gauge(group, "stream.pending", "Entries that were delivered and are not acknowledged",
					GroupBacklog::pending);
		});
	}

	@Override
	public void processed(ProcessedEntry entry) {
		switch (entry.outcome()) {
			case REDELIVERED -> redelivered(entry.group()).increment();
			case DEAD -> dead(entry.group()).increment();
			case ACKNOWLEDGED, LOST -> {
				// The timer counts them.
			}
		}
		if (this.timesEntries) {
			timer(entry).record(entry.took());
		}
	}

	private Counter redelivered(ConsumerGroup group) {
		return counter(group, "stream.redelivered", "Deliveries that are followed by another");
	}

	private Counter dead(ConsumerGroup group) {
		return counter(group, "stream.dead", "Entries that were moved to the dead-letter stream");
	}

	private Counter counter(ConsumerGroup group, String name, String description) {
		return Counter.builder(name).description(description).tags(tags(group)).register(this.registry);
	}

	private Timer timer(ProcessedEntry entry) {
		return Timer.builder("stream.process")
			.description("Duration of processing an entry")
			.tags(tags(entry.group()).and("outcome", entry.outcome().tag()))
			.register(this.registry);
	}

	private void gauge(ConsumerGroup group, String name, String description, ToDoubleFunction<GroupBacklog> value) {
		Gauge.builder(name, this, (metrics) -> metrics.backlogs.get((all) -> {
			GroupBacklog backlog = all.get(group);
			return (backlog != null) ? value.applyAsDouble(backlog) : Double.NaN;
		})).description(description).tags(tags(group)).register(this.registry);
	}

	private static Tags tags(ConsumerGroup group) {
		return Tags.of("stream", group.stream(), "group", group.group());
	}

}
