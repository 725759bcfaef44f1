package dev.idempotent.stream;

import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;

import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.outbox.Outbox;
import dev.idempotent.outbox.OutboxEvent;
import dev.idempotent.stream.StreamApplication.Order;
import dev.idempotent.stream.StreamApplication.Script;
import dev.idempotent.testing.RealRedis;
import dev.idempotent.testing.RecordedSpans;
import io.micrometer.tracing.Span;
import io.micrometer.tracing.TraceContext;
import io.micrometer.tracing.Tracer;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.sdk.trace.data.SpanData;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
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

}
