package dev.idempotent.autoconfigure.actuate;

import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import dev.idempotent.autoconfigure.test.AutoConfigureIdempotency;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.saga.Saga;
import dev.idempotent.saga.SagaSteps;
import dev.idempotent.saga.SagaWaitingException;
import dev.idempotent.saga.Sagas;
import dev.idempotent.saga.method.SagaApplication;
import dev.idempotent.test.SagaWaits;
import dev.idempotent.testing.OpenTelemetryConfiguration;
import dev.idempotent.testing.RealPostgres;
import dev.idempotent.testing.RecordedSpans;
import io.micrometer.tracing.Span;
import io.micrometer.tracing.Tracer;
import io.opentelemetry.sdk.trace.data.SpanData;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;
import static org.mockito.BDDMockito.willThrow;
import static org.mockito.Mockito.mock;

/**
 * Tests for {@link SagaSpans} with the tracer of OpenTelemetry, on PostgreSQL.
 */
class SagaTracesIntegrationTests {

	@RegisterExtension
	static final RealPostgres postgres = RealPostgres.shared();

	private final String key = UUID.randomUUID().toString();

	@Test
	void continueInTheTraceOfTheStartAfterAWait() {
		application(Traced.class).run((context) -> {
			String start = inSpan(context, (span) -> {
				IdempotencyKey unused = inTransaction(context,
						() -> context.getBean(Sagas.class).start(() -> context.getBean(Trip.class).take(this.key)));
				return span.context().traceId();
			});
			IdempotencyKey id = id(context);
			context.getBean(SagaWaits.class).awaitWait(id, "paid");
			String signal = inSpan(context, (span) -> {
				context.getBean(Sagas.class).signal(id, "paid");
				return span.context().traceId();
			});
			context.getBean(SagaWaits.class).awaitEnd(id);
			RecordedSpans spans = context.getBean(RecordedSpans.class);
			await().until(() -> spans.named("saga trip", start).size() == 2);
			assertThat(spans.named("saga trip", start)).extracting((span) -> RecordedSpans.attribute(span, "outcome"))
				.containsExactly("waiting", "completed");
			assertThat(parentsOf(spans, "hold", start)).isSubsetOf(idsOf(spans, "saga trip", start)).hasSize(1);
			assertThat(parentsOf(spans, "confirm", start)).isSubsetOf(idsOf(spans, "saga trip", start)).hasSize(1);
			assertThat(spans.all())
				.noneMatch((span) -> span.getTraceId().equals(signal) && !span.getName().equals("of the application"));
		});
	}

	@Test
	void continueInTheTraceOfTheCallOnAnotherInstance() {
		application(Traced.class).run((first) -> {
			String call = inSpan(first, (span) -> {
				assertThatExceptionOfType(SagaWaitingException.class)
					.isThrownBy(() -> first.getBean(Trip.class).take(this.key));
				return span.context().traceId();
			});
			application(Traced.class).run((second) -> {
				RecordedSpans spans = second.getBean(RecordedSpans.class);
				second.getBean(Sagas.class).signal(id(second), "paid");
				second.getBean(SagaWaits.class).awaitEnd(id(second));
				await().until(() -> Stream.of(spans, first.getBean(RecordedSpans.class))
					.anyMatch((recorded) -> recorded.named("saga trip", call).size() == 1));
			});
		});
	}

	@Test
	void areSpansOfTheirOwnWithoutATrace() {
		application(Traced.class).run((context) -> {
			IdempotencyKey id = context.getBean(Sagas.class).start(() -> context.getBean(Trip.class).take(this.key));
			context.getBean(SagaWaits.class).awaitWait(id, "paid");
			RecordedSpans spans = context.getBean(RecordedSpans.class);
			await().untilAsserted(() -> assertThat(spans.all()).filteredOn((span) -> span.getName().equals("saga trip"))
				.singleElement()
				.extracting(SpanData::getParentSpanId)
				.isEqualTo("0".repeat(16)));
		});
	}

	@Test
	void areLeftOutIfTheTracerFails() {
		application(BrokenTracer.class).run((context) -> {
			Trip trip = context.getBean(Trip.class);
			IdempotencyKey id = context.getBean(Sagas.class).start(() -> trip.take(this.key));
			context.getBean(SagaWaits.class).awaitWait(id, "paid");
			context.getBean(Sagas.class).signal(id, "paid");
			context.getBean(SagaWaits.class).awaitEnd(id);
			assertThat(trip.held()).isEqualTo(1);
		});
	}

	private IdempotencyKey id(ApplicationContext context) {
		return context.getBean(Sagas.class).idOf("trip", this.key);
	}

	private static <T> T inSpan(ApplicationContext context, Function<Span, T> work) {
		Tracer tracer = context.getBean(Tracer.class);
		Span span = tracer.nextSpan().name("of the application").start();
		Tracer.SpanInScope scope = tracer.withSpan(span);
		try {
			return work.apply(span);
		}
		finally {
			scope.close();
			span.end();
		}
	}

	private static IdempotencyKey inTransaction(ApplicationContext context, Supplier<IdempotencyKey> work) {
		return Objects.requireNonNull(new TransactionTemplate(context.getBean(PlatformTransactionManager.class))
			.execute((status) -> work.get()));
	}

	private static List<String> parentsOf(RecordedSpans spans, String name, String traceId) {
		return spans.named(name, traceId).stream().map(SpanData::getParentSpanId).toList();
	}

	private static Set<String> idsOf(RecordedSpans spans, String name, String traceId) {
		return spans.named(name, traceId).stream().map(SpanData::getSpanId).collect(Collectors.toSet());
	}

	private static ApplicationContextRunner application(Class<?> tracing) {
		return SagaApplication.with(tracing, Trip.class, Support.class)
			.withConfiguration(AutoConfigurations.of(SagaOperationsAutoConfiguration.class))
			.withPropertyValues(postgres.properties().toArray(String[]::new))
			.withPropertyValues("idempotent.saga.table-prefix=traces_saga_", "idempotent.saga.initialize-schema=always",
					"idempotent.jdbc.initialize-schema=always");
	}

	@Configuration(proxyBeanMethods = false)
	@AutoConfigureIdempotency
	static class Support {

	}

	@Configuration(proxyBeanMethods = false)
	@Import(OpenTelemetryConfiguration.class)
	static class Traced {

	}

	@Configuration(proxyBeanMethods = false)
	static class BrokenTracer {

		@Bean
		Tracer tracer() {
			Tracer tracer = mock(Tracer.class);
			willThrow(new IllegalStateException("broken")).given(tracer).currentTraceContext();
			willThrow(new NoSuchMethodError("broken")).given(tracer).spanBuilder();
			return tracer;
		}

	}

	static class Trip {

		private final SagaSteps saga;

		private final Tracer tracer;

		private final AtomicInteger held = new AtomicInteger();

		Trip(SagaSteps saga, Tracer tracer) {
			this.saga = saga;
			this.tracer = tracer;
		}

		@Saga(name = "trip", key = "#key", timeout = "2d")
		public void take(String key) {
			this.saga.step("hold").run(() -> {
				this.held.incrementAndGet();
				span("hold");
			});
			this.saga.await("paid").within(Duration.ofDays(1));
			this.saga.step("confirm").run(() -> span("confirm"));
		}

		/**
		 * Not the field, which a proxy does not have.
		 */
		public int held() {
			return this.held.get();
		}

		/**
		 * As a client of the application does.
		 */
		private void span(String name) {
			Span span = this.tracer.nextSpan();
			if (span != null) {
				span.name(name).start().end();
			}
		}

	}

}
