package dev.idempotent.stream;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

import dev.idempotent.autoconfigure.actuate.ImportOperations;
import dev.idempotent.stream.StreamApplication.Calls;
import dev.idempotent.stream.StreamApplication.OrderListener;
import dev.idempotent.stream.StreamApplication.Script;
import dev.idempotent.testing.RealRedis;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.micrometer.metrics.autoconfigure.MetricsAutoConfiguration;
import org.springframework.boot.micrometer.observation.autoconfigure.ObservationAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Tests for the meters of stream listeners on a real Redis.
 */
class StreamMetersIntegrationTests {

	private static final Path DOCUMENT = Path.of("../docs/observability.md");

	/**
	 * Of a row in the tables of meters, split at its lines.
	 */
	private static final int COLUMNS = 5;

	@RegisterExtension
	static final RealRedis redis = RealRedis.shared();

	private final TestStream stream = new TestStream(redis.connect());

	private final Calls calls = new Calls((order, headers) -> {
		if (order.id().equals("bad")) {
			throw new IllegalStateException("of the test");
		}
	});

	@Test
	void existBeforeTheFirstEntryAndCountEachDelivery() {
		try (ConfigurableApplicationContext instance = start(Metered.class)) {
			MeterRegistry registry = instance.getBean(MeterRegistry.class);
			assertThat(registry.get("stream.redelivered").tags(tags()).counter().count()).isZero();
			assertThat(registry.get("stream.dead").tags(tags()).counter().count()).isZero();
			this.stream.add("good");
			this.stream.add("bad");
			await().untilAsserted(
					() -> assertThat(registry.get("stream.dead").tags(tags()).counter().count()).isEqualTo(1));
			assertThat(registry.get("stream.redelivered").tags(tags()).counter().count()).isEqualTo(1);
			await().untilAsserted(() -> assertTimed(registry));
		}
	}

	@Test
	void areTimedOnceIfThereAreObservations() {
		try (ConfigurableApplicationContext instance = start(ObservedAndMetered.class)) {
			MeterRegistry registry = instance.getBean(MeterRegistry.class);
			this.stream.add("good");
			this.stream.add("bad");
			await().untilAsserted(() -> assertTimed(registry));
			assertThat(registry.get("stream.process").timers())
				.allSatisfy((timer) -> assertThat(timer.getId().getTag("error")).isNotNull());
			await().untilAsserted(
					() -> assertThat(registry.get("stream.dead").tags(tags()).counter().count()).isEqualTo(1));
		}
	}

	@Test
	void matchTheDocumentedMeters() throws IOException {
		try (ConfigurableApplicationContext instance = start(Metered.class)) {
			MeterRegistry registry = instance.getBean(MeterRegistry.class);
			this.stream.add("good");
			await().until(() -> registry.find("stream.process").timer() != null);
			Map<String, String> meters = registry.getMeters()
				.stream()
				.filter((meter) -> meter.getId().getName().startsWith("stream."))
				.collect(Collectors.toMap((meter) -> meter.getId().getName(), StreamMetersIntegrationTests::describe,
						(one, other) -> one, TreeMap::new));
			assertThat(documented()).isEqualTo(meters);
		}
	}

	private void assertTimed(MeterRegistry registry) {
		assertThat(registry.find("stream.process")
			.tags(tags())
			.timers()
			.stream()
			.collect(Collectors.toMap((timer) -> timer.getId().getTag("outcome"), (timer) -> timer.count())))
			.isEqualTo(Map.of("acknowledged", 1L, "redelivered", 1L, "dead", 1L));
	}

	private Tags tags() {
		return Tags.of("stream", this.stream.name(), "group", TestStream.GROUP);
	}

	private static String describe(Meter meter) {
		String tags = meter.getId().getTags().stream().map(Tag::getKey).sorted().collect(Collectors.joining(", "));
		String kind = meter.getId().getType().name().toLowerCase(Locale.ROOT);
		String unit = meter.getId().getBaseUnit();
		return kind + ((unit == null || kind.equals("timer")) ? "" : ", " + unit) + ";" + tags;
	}

	/**
	 * Name, and kind with unit, and tags. A timer has seconds.
	 */
	private static Map<String, String> documented() throws IOException {
		return Files.readAllLines(DOCUMENT)
			.stream()
			.filter((line) -> line.startsWith("| `stream."))
			.map((line) -> line.replace("`", "").split("\\|"))
			.filter((cells) -> cells.length == COLUMNS)
			.collect(Collectors.toMap((cells) -> cells[1].strip(), (cells) -> cells[2].strip() + ";" + cells[3].strip(),
					(one, other) -> one, TreeMap::new));
	}

	private ConfigurableApplicationContext start(Class<?> listeners) {
		return StreamApplication.start(listeners, redis, this.calls, this.stream.property(),
				"idempotent.stream.max-deliveries=2");
	}

	@ImportOperations
	static class Metered extends OrderListener {

		Metered(Script script) {
			super(script);
		}

		@Bean
		MeterRegistry registry() {
			return new SimpleMeterRegistry();
		}

	}

	@ImportAutoConfiguration({ MetricsAutoConfiguration.class, ObservationAutoConfiguration.class })
	static class ObservedAndMetered extends Metered {

		ObservedAndMetered(Script script) {
			super(script);
		}

	}

}
