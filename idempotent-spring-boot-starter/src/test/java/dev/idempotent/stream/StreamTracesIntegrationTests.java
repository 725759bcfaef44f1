package dev.idempotent.stream;

import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;

import dev.idempotent.autoconfigure.actuate.ImportOperations;
import dev.idempotent.autoconfigure.idempotency.ImportMethods;
import dev.idempotent.autoconfigure.outbox.ImportOutbox;
import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.outbox.Outbox;
import dev.idempotent.outbox.OutboxEvent;
import dev.idempotent.stream.StreamApplication.Calls;
import dev.idempotent.stream.StreamApplication.Order;
import dev.idempotent.stream.StreamApplication.OrderListener;
import dev.idempotent.stream.StreamApplication.Script;
import dev.idempotent.testing.OpenTelemetryConfiguration;
import dev.idempotent.testing.RealRedis;
import dev.idempotent.testing.RecordedSpans;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationHandler;
import io.micrometer.observation.ObservationView;
import io.micrometer.tracing.Span;
import io.micrometer.tracing.TraceContext;
import io.micrometer.tracing.Tracer;
import io.micrometer.tracing.handler.PropagatingReceiverTracingObservationHandler;
import io.micrometer.tracing.propagation.Propagator;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.sdk.trace.data.SpanData;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration;
import org.springframework.boot.micrometer.observation.autoconfigure.ObservationAutoConfiguration;
import org.springframework.boot.transaction.autoconfigure.TransactionAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Tests for traces from the transaction that appends an event to the listener of its
 * stream, with OpenTelemetry on a real Redis.
 */
class StreamTracesIntegrationTests {

	@RegisterExtension
	static final RealRedis redis = RealRedis.shared();

	private final TestStream stream = new TestStream(redis.connect());

	private final List<TraceContext> current = new CopyOnWriteArrayList<>();

	@SuppressWarnings("NullAway.Init")
	private volatile ConfigurableApplicationContext instance;

	private final Calls calls = new Calls((order, headers) -> {
		Span span = this.instance.getBean(Tracer.class).currentSpan();
		this.current.add((span != null) ? span.context() : TraceContext.NOOP);
		if (order.id().equals("bad") && this.current.size() == 1) {
			throw new IllegalStateException("of the test");
		}
	});

	@ParameterizedTest
	@ValueSource(classes = { Plain.class, Leased.class, Transacted.class })
	void leadFromTheListenerBackToTheTransactionThatAppendedTheEvent(Class<?> listener) {
		try (ConfigurableApplicationContext started = start(listener)) {
			TraceContext appended = append("good");
			SpanData span = spans(1).get(0);
			assertThat(span.getTraceId()).isEqualTo(appended.traceId());
			assertThat(span.getParentSpanId()).isEqualTo(appended.spanId());
			assertThat(span.getKind()).isEqualTo(SpanKind.CONSUMER);
			assertThat(span.getName()).isEqualTo(this.stream.name() + " process");
			assertThat(RecordedSpans.attribute(span, "stream")).isEqualTo(this.stream.name());
			assertThat(RecordedSpans.attribute(span, "group")).isEqualTo(TestStream.GROUP);
			assertThat(RecordedSpans.attribute(span, "outcome")).isEqualTo("acknowledged");
			assertThat(this.current).extracting(TraceContext::spanId).containsExactly(span.getSpanId());
			assertThat(started.isRunning()).isTrue();
		}
	}

	@Test
	void haveASpanForEachDelivery() {
		try (ConfigurableApplicationContext started = start(Plain.class)) {
			TraceContext appended = append("bad");
			List<SpanData> spans = spans(2);
			assertThat(spans).extracting(SpanData::getParentSpanId).containsOnly(appended.spanId());
			assertThat(spans).extracting((span) -> RecordedSpans.attribute(span, "outcome"))
				.containsExactly("redelivered", "acknowledged");
			assertThat(spans).extracting((span) -> RecordedSpans.attribute(span, "stream.entry.deliveries"))
				.containsExactly("1", "2");
			assertThat(spans.get(0).getEvents()).extracting((event) -> event.getName()).containsExactly("exception");
			assertThat(started.isRunning()).isTrue();
		}
	}

	@Test
	void showNothingOfAPayloadThatCannotBeRead() {
		try (ConfigurableApplicationContext started = start(Plain.class)) {
			this.stream.add(Map.of("payload", "{\"id\":\"one\",\"amount\":\"s3cret\"}"));
			SpanData span = spans(1).get(0);
			assertThat(RecordedSpans.attribute(span, "outcome")).isEqualTo("dead");
			assertThat(span.getStatus().getDescription() + span.getEvents()).doesNotContain("s3cret");
			assertThat(started.isRunning()).isTrue();
		}
	}

	@Test
	void beginWithTheDeliveryOfAnEntryWithoutOrWithAnInvalidTrace() {
		try (ConfigurableApplicationContext started = start(Plain.class)) {
			this.stream.add("first");
			this.stream.add(Map.of("payload", "{\"id\":\"second\",\"amount\":1}", "traceparent", "not a trace"));
			List<SpanData> spans = spans(2);
			assertThat(spans).extracting(SpanData::getParentSpanId).containsOnly("0000000000000000");
			assertThat(spans).extracting(SpanData::getTraceId).doesNotHaveDuplicates();
			assertThat(started.isRunning()).isTrue();
		}
	}

	@Test
	void doNotAffectEntriesAndLeaveNothingOnTheThreadIfAHandlerThrows() {
		try (ConfigurableApplicationContext started = start(WithBrokenHandler.class)) {
			BrokenHandler handler = started.getBean(BrokenHandler.class);
			for (String method : List.of("start", "scope", "error", "close", "stop", "")) {
				handler.failIn(method);
				int before = this.calls.ids().size();
				append("good");
				await().until(() -> this.calls.ids().size() == before + 1 && this.stream.pending() == 0);
			}
			append("good");
			await().until(() -> this.calls.ids().size() == 7);
			assertThat(handler.leaked()).isEmpty();
			assertThat(this.stream.dead()).isEmpty();
		}
	}

	private TraceContext append(String id) {
		Tracer tracer = this.instance.getBean(Tracer.class);
		Span span = tracer.nextSpan().name("place order").start();
		Tracer.SpanInScope scope = tracer.withSpan(span);
		try {
			new TransactionTemplate(this.instance.getBean(PlatformTransactionManager.class))
				.executeWithoutResult((status) -> this.instance.getBean(Outbox.class)
					.append(OutboxEvent.of("order.created", new Order(id, 1))));
		}
		finally {
			scope.close();
		}
		return span.context();
	}

	/**
	 * The spans of deliveries, whose parents are never ended.
	 */
	private List<SpanData> spans(int count) {
		List<SpanData> ended = this.instance.getBean(RecordedSpans.class).all();
		await().until(() -> ended.size() == count);
		return ended;
	}

	private ConfigurableApplicationContext start(Class<?> listener) {
		this.instance = StreamApplication.start(listener, redis, this.calls, this.stream.property(),
				"idempotent.namespace=shop",
				"spring.datasource.url=jdbc:h2:mem:" + this.stream.name() + ";DB_CLOSE_DELAY=-1",
				"idempotent.jdbc.initialize-schema=always", "idempotent.outbox.initialize-schema=always",
				"idempotent.outbox.default-topic=redis-stream:" + this.stream.name());
		return this.instance;
	}

	@Import(TracedApplication.class)
	static class Plain extends OrderListener {

		Plain(Script script) {
			super(script);
		}

	}

	@Import(TracedApplication.class)
	static class Leased {

		private final Script script;

		Leased(Script script) {
			this.script = script;
		}

		@RedisStreamListener(stream = "${test.stream}", group = TestStream.GROUP)
		@Idempotent(key = "#headers['ce_id']", ignore = "headers", guarantee = Guarantee.LEASE, name = "leased.on")
		void on(Order order, Map<String, String> headers) throws Exception {
			this.script.on(order, headers);
		}

	}

	@Import(TracedApplication.class)
	static class Transacted {

		private final Script script;

		Transacted(Script script) {
			this.script = script;
		}

		@RedisStreamListener(stream = "${test.stream}", group = TestStream.GROUP)
		@Transactional
		@Idempotent(key = "#headers['ce_id']", ignore = "headers", guarantee = Guarantee.TRANSACTION,
				name = "transacted.on")
		void on(Order order, Map<String, String> headers) throws Exception {
			this.script.on(order, headers);
		}

	}

	static class WithBrokenHandler extends Plain {

		WithBrokenHandler(Script script) {
			super(script);
		}

		@Bean
		BrokenHandler brokenHandler() {
			return new BrokenHandler();
		}

	}

	/**
	 * Throws in the method that the test names.
	 */
	private static final class BrokenHandler implements ObservationHandler<Observation.Context> {

		private final List<ObservationView> leaked = new CopyOnWriteArrayList<>();

		private volatile String broken = "";

		void failIn(String method) {
			this.broken = method;
		}

		/**
		 * Observations that were still current when the next one began.
		 */
		List<ObservationView> leaked() {
			return this.leaked;
		}

		@Override
		public void onStart(Observation.Context context) {
			if (context.getParentObservation() != null) {
				this.leaked.add(context.getParentObservation());
			}
			fail("start");
		}

		@Override
		public void onScopeOpened(Observation.Context context) {
			fail("scope");
		}

		@Override
		public void onError(Observation.Context context) {
			fail("error");
		}

		@Override
		public void onScopeClosed(Observation.Context context) {
			fail("close");
		}

		@Override
		public void onStop(Observation.Context context) {
			fail("stop");
		}

		@Override
		public boolean supportsContext(Observation.Context context) {
			return true;
		}

		private void fail(String method) {
			if (this.broken.equals(method)) {
				throw new IllegalStateException("of the test");
			}
		}

	}

	/**
	 * An application with an outbox, stream listeners and OpenTelemetry, as Boot's
	 * tracing module configures it.
	 */
	@Configuration(proxyBeanMethods = false)
	@ImportAutoConfiguration({ DataSourceAutoConfiguration.class, DataSourceTransactionManagerAutoConfiguration.class,
			TransactionAutoConfiguration.class, ObservationAutoConfiguration.class })
	@ImportMethods
	@ImportOutbox
	@ImportOperations
	@Import(OpenTelemetryConfiguration.class)
	static class TracedApplication {

		@Bean
		PropagatingReceiverTracingObservationHandler<?> receiverHandler(Tracer tracer, Propagator propagator) {
			return new PropagatingReceiverTracingObservationHandler<>(tracer, propagator);
		}

	}

}
