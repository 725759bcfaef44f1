package dev.idempotent.autoconfigure.actuate;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiConsumer;

import dev.idempotent.autoconfigure.actuate.TracesIntegrationTests.TracedApplication.Calls;
import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.testing.OpenTelemetryConfiguration;
import dev.idempotent.testing.RealPostgres;
import dev.idempotent.testing.RealRedis;
import dev.idempotent.testing.RecordedSpans;
import dev.idempotent.testing.RunningApplication;
import dev.idempotent.testing.WebApplication;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationHandler;
import io.micrometer.observation.ObservationRegistry;
import io.micrometer.tracing.Tracer;
import io.micrometer.tracing.handler.DefaultTracingObservationHandler;
import io.micrometer.tracing.handler.PropagatingReceiverTracingObservationHandler;
import io.micrometer.tracing.propagation.Propagator;
import io.opentelemetry.sdk.trace.data.LinkData;
import io.opentelemetry.sdk.trace.data.SpanData;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.core.RedisCallback;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for the traces of runs and replays, with the tracer of OpenTelemetry.
 */
class TracesIntegrationTests {

	@RegisterExtension
	static final RealRedis redis = RealRedis.dedicated();

	@RegisterExtension
	static final RealPostgres postgres = RealPostgres.shared();

	@Order(RunningApplication.AFTER_ITS_SERVERS)
	@RegisterExtension
	static final RunningApplication application = RunningApplication.of(() -> start(TracedApplication.class));

	@ParameterizedTest
	@ValueSource(strings = { "/lease", "/transaction", "/callable", "/future" })
	void linkAReplayToItsFirstRun(String path) {
		String key = UUID.randomUUID().toString();
		SpanData first = requestSpan(path, key);
		assertThat(RecordedSpans.attribute(first, "idempotency.outcome")).isEqualTo("run");
		assertThat(RecordedSpans.attribute(first, "idempotency.operation")).isIn("orders", "payments", "reports",
				"forecasts");
		assertThat(RecordedSpans.attribute(first, "idempotency.first_run.trace_id")).isNull();
		assertReplayed(requestSpan(path, key), first);
	}

	@Test
	void linkAReplayToItsFirstRunThroughTheDatabase() {
		String key = UUID.randomUUID().toString();
		SpanData first = requestSpan("/transaction", key);
		redis.flush();
		assertReplayed(requestSpan("/transaction", key), first);
		// Redis now has the response from the database.
		assertReplayed(requestSpan("/transaction", key), first);
	}

	@Test
	void linkAReplayFromTheCacheToItsFirstRun() {
		String key = UUID.randomUUID().toString();
		try (WebApplication cached = start(TracedApplication.class, "idempotent.replay-cache.max-size=1MB")) {
			SpanData first = requestSpan(cached, "/lease", key);
			assertReplayed(cached, requestSpan(cached, "/lease", key), first);
			redis.flush();
			assertReplayed(cached, requestSpan(cached, "/lease", key), first);
		}
	}

	@Test
	void describeTheRequestAndNotTheObservationOfAFilter() {
		String key = UUID.randomUUID().toString();
		try (WebApplication secured = start(SecuredTracedApplication.class, WebApplication.WITH_SECURITY)) {
			SpanData first = requestSpan(secured, "/lease", key);
			assertThat(RecordedSpans.attribute(first, "idempotency.outcome")).isEqualTo("run");
			SpanData replay = requestSpan(secured, "/lease", key);
			assertThat(RecordedSpans.attribute(replay, "idempotency.first_run.trace_id")).isEqualTo(first.getTraceId());
		}
	}

	@Test
	void describeCallsOfMethods() {
		assertThat(callTwice(Calls::underLease)).containsExactly("ship", "replayed");
		assertThat(callTwice(Calls::inTransaction)).containsExactly("charge", "replayed");
	}

	@Test
	void addNoTagToMeters() {
		requestSpan("/lease", UUID.randomUUID().toString());
		assertThat(application.bean(MeterRegistry.class).getMeters()).flatExtracting((meter) -> meter.getId().getTags())
			.extracting(Tag::getKey)
			.isNotEmpty()
			.noneMatch((tag) -> tag.startsWith("idempotency"));
	}

	@ParameterizedTest
	@ValueSource(strings = { "'; drop table idempotency_record; --", "00-ZZZ-${jndi:ldap://x}-01",
			"00-00000000000000000000000000000000-0000000000000000-01", "%0d%0aSET%20x%201" })
	void storeNoTraceContextOfAClientThatIsNotValid(String hostile) {
		redis.flush();
		String key = UUID.randomUUID().toString();
		application.post("/transaction", "{}", "Idempotency-Key", key, "traceparent", hostile);
		assertThat(stored()).isNotEmpty().noneMatch((value) -> value.contains(hostile));
		SpanData replay = requestSpan("/transaction", key);
		assertThat(RecordedSpans.attribute(replay, "idempotency.outcome")).isEqualTo("replayed");
		assertThat(RecordedSpans.attribute(replay, "idempotency.first_run.trace_id")).matches("[0-9a-f]{32}")
			.isNotEqualTo("0".repeat(32));
	}

	private static void assertReplayed(SpanData replay, SpanData first) {
		assertThat(RecordedSpans.attribute(replay, "idempotency.outcome")).isEqualTo("replayed");
		assertThat(RecordedSpans.attribute(replay, "idempotency.first_run.trace_id")).isEqualTo(first.getTraceId());
		assertLinked(application.bean(RecordedSpans.class), replay, first);
	}

	private static void assertReplayed(WebApplication application, SpanData replay, SpanData first) {
		assertThat(RecordedSpans.attribute(replay, "idempotency.first_run.trace_id")).isEqualTo(first.getTraceId());
		assertLinked(application.bean(RecordedSpans.class), replay, first);
	}

	private static void assertLinked(RecordedSpans spans, SpanData replay, SpanData first) {
		assertThat(spans.named("idempotency replay", replay.getTraceId())).singleElement().satisfies((span) -> {
			assertThat(span.getParentSpanId()).isEqualTo(replay.getSpanId());
			assertThat(span.getLinks()).extracting(LinkData::getSpanContext).singleElement().satisfies((context) -> {
				assertThat(context.getTraceId()).isEqualTo(first.getTraceId());
				assertThat(context.getSpanId()).isEqualTo(first.getSpanId());
				assertThat(context.isSampled()).isTrue();
			});
		});
	}

	private static SpanData requestSpan(String path, String key) {
		String traceId = traceId();
		application.post(path, "{}", "Idempotency-Key", key, "traceparent", traceparent(traceId));
		return application.bean(RecordedSpans.class).ofRequest(traceId);
	}

	private static SpanData requestSpan(WebApplication application, String path, String key) {
		String traceId = traceId();
		application.post(path, "{}", "Idempotency-Key", key, "traceparent", traceparent(traceId));
		return application.bean(RecordedSpans.class).ofRequest(traceId);
	}

	private static String traceId() {
		return UUID.randomUUID().toString().replace("-", "");
	}

	private static String traceparent(String traceId) {
		return "00-" + traceId + "-b7ad6b7169203331-01";
	}

	/**
	 * Calls a method twice with one key.
	 * @return the operation and outcome of the second call
	 */
	private static List<String> callTwice(BiConsumer<Calls, String> method) {
		String id = UUID.randomUUID().toString();
		Observed first = observe(() -> method.accept(application.bean(Calls.class), id));
		Observed second = observe(() -> method.accept(application.bean(Calls.class), id));
		assertThat(first.of("idempotency.outcome")).isEqualTo("run");
		assertThat(second.of("idempotency.first_run.trace_id")).isEqualTo(first.traceId());
		return List.of(second.of("idempotency.operation"), second.of("idempotency.outcome"));
	}

	private static Observed observe(Runnable call) {
		Observation observation = Observation.start("call", application.bean(ObservationRegistry.class));
		List<String> traceIds = new ArrayList<>();
		observation.scoped(() -> {
			traceIds.add(Objects.requireNonNull(application.bean(Tracer.class).currentSpan()).context().traceId());
			call.run();
		});
		observation.stop();
		return new Observed(traceIds.get(0), observation);
	}

	private static List<String> stored() {
		StringRedisTemplate client = new StringRedisTemplate(redis.connect());
		return client.execute((RedisCallback<List<String>>) TracesIntegrationTests::dump);
	}

	private static List<String> dump(RedisConnection connection) {
		List<String> values = new ArrayList<>();
		for (byte[] key : connection.keyCommands().keys("*".getBytes(StandardCharsets.US_ASCII))) {
			values.add(new String(connection.keyCommands().dump(key), StandardCharsets.ISO_8859_1));
		}
		return values;
	}

	private static WebApplication start(Class<?> source, String... properties) {
		List<String> all = new ArrayList<>(Arrays.asList(properties));
		all.add(WebApplication.WITH_DATABASE);
		all.add(WebApplication.WITH_OPERATIONS);
		all.add("idempotent.jdbc.initialize-schema=always");
		all.addAll(postgres.properties());
		return WebApplication.start(source, redis, all.toArray(String[]::new));
	}

	private record Observed(String traceId, Observation observation) {

		String of(String keyValue) {
			return Objects.requireNonNull(this.observation.getContext().getHighCardinalityKeyValue(keyValue))
				.getValue();
		}

	}

	/**
	 * A {@link TracedApplication} with Spring Security, which has observations of its
	 * own.
	 */
	@Configuration(proxyBeanMethods = false)
	@Import(TracedApplication.class)
	static class SecuredTracedApplication {

		@Bean
		SecurityFilterChain openToAll(HttpSecurity http) throws Exception {
			return http.csrf((csrf) -> csrf.disable())
				.authorizeHttpRequests((requests) -> requests.anyRequest().permitAll())
				.build();
		}

	}

	/**
	 * An application with the tracer of OpenTelemetry.
	 */
	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import({ OpenTelemetryConfiguration.class, TracedApplication.Orders.class })
	static class TracedApplication {

		@Bean
		ObservationHandler<?> tracing(Tracer tracer, Propagator propagator) {
			return new ObservationHandler.FirstMatchingCompositeObservationHandler(
					new PropagatingReceiverTracingObservationHandler<>(tracer, propagator),
					new DefaultTracingObservationHandler(tracer));
		}

		@Bean
		Calls calls() {
			return new Calls();
		}

		@RestController
		static class Orders {

			private final AtomicInteger runs = new AtomicInteger();

			@PostMapping("/lease")
			@Idempotent(name = "orders")
			String underLease() {
				return "run " + this.runs.incrementAndGet();
			}

			@PostMapping("/transaction")
			@Idempotent(name = "payments", guarantee = Guarantee.TRANSACTION)
			String inTransaction() {
				return "run " + this.runs.incrementAndGet();
			}

			@PostMapping("/callable")
			@Idempotent(name = "reports")
			Callable<String> onAnotherThread() {
				return () -> "run " + this.runs.incrementAndGet();
			}

			@PostMapping("/future")
			@Idempotent(name = "forecasts")
			CompletableFuture<String> later() {
				return CompletableFuture.supplyAsync(() -> "run " + this.runs.incrementAndGet());
			}

		}

		static class Calls {

			private final AtomicInteger runs = new AtomicInteger();

			@Idempotent(name = "ship", key = "#id")
			public int underLease(String id) {
				return this.runs.incrementAndGet();
			}

			@Transactional
			@Idempotent(name = "charge", key = "#id", guarantee = Guarantee.TRANSACTION)
			public int inTransaction(String id) {
				return this.runs.incrementAndGet();
			}

		}

	}

}
