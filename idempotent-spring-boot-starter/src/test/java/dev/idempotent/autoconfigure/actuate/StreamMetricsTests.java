package dev.idempotent.autoconfigure.actuate;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;

import dev.idempotent.stream.ConsumerGroup;
import dev.idempotent.stream.StreamInspector.GroupBacklog;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for the gauges of {@link StreamMetrics}.
 */
class StreamMetricsTests {

	private static final ConsumerGroup ORDERS = new ConsumerGroup("orders", "notifications");

	private static final ConsumerGroup PAYMENTS = new ConsumerGroup("payments", "notifications");

	private final AtomicInteger reads = new AtomicInteger();

	private final SimpleMeterRegistry registry = new SimpleMeterRegistry();

	@Test
	void readTheBacklogsOnceForAllGauges() {
		listen(Map.of(ORDERS, new GroupBacklog(3, 4L, 1, "1-0"), PAYMENTS, new GroupBacklog(5, 0L, 1, "1-0")));
		assertThat(gauge("stream.pending", ORDERS)).isEqualTo(3);
		assertThat(gauge("stream.lag", ORDERS)).isEqualTo(4);
		assertThat(gauge("stream.pending", PAYMENTS)).isEqualTo(5);
		assertThat(gauge("stream.lag", PAYMENTS)).isZero();
		assertThat(this.reads).hasValue(1);
	}

	@Test
	void haveNoValueWhereRedisDoesNotKnowIt() {
		listen(Map.of(ORDERS, new GroupBacklog(3, null, 1, "1-0")));
		assertThat(gauge("stream.pending", ORDERS)).isEqualTo(3);
		assertThat(gauge("stream.lag", ORDERS)).isNaN();
		assertThat(gauge("stream.pending", PAYMENTS)).isNaN();
	}

	@Test
	void haveNoValueIfTheBacklogsCannotBeReadAndDoNotReadThemEachTime() {
		listen(null);
		assertThat(gauge("stream.pending", ORDERS)).isNaN();
		assertThat(gauge("stream.lag", ORDERS)).isNaN();
		assertThat(this.reads).hasValue(1);
	}

	private void listen(@Nullable Map<ConsumerGroup, GroupBacklog> backlogs) {
		new StreamMetrics(this.registry, () -> {
			this.reads.incrementAndGet();
			if (backlogs == null) {
				throw new IllegalStateException("away");
			}
			return backlogs;
		}, true, Duration.ofHours(1)).listening(List.of(ORDERS, PAYMENTS));
	}

	private double gauge(String name, ConsumerGroup group) {
		return this.registry.get(name).tags("stream", group.stream(), "group", group.group()).gauge().value();
	}

}
