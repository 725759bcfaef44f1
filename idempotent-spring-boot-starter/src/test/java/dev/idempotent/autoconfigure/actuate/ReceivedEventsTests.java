package dev.idempotent.autoconfigure.actuate;

import java.util.List;
import java.util.Objects;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

import dev.idempotent.outbox.Outbox;
import dev.idempotent.outbox.OutboxApplication;
import dev.idempotent.outbox.OutboxEvent;
import dev.idempotent.outbox.OutboxHandler;
import io.micrometer.common.KeyValue;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationHandler;
import io.micrometer.observation.ObservationRegistry;
import io.micrometer.tracing.Span;
import io.micrometer.tracing.TraceContext;
import io.micrometer.tracing.Tracer;
import io.micrometer.tracing.handler.PropagatingReceiverTracingObservationHandler;
import io.micrometer.tracing.otel.bridge.OtelCurrentTraceContext;
import io.micrometer.tracing.otel.bridge.OtelPropagator;
import io.micrometer.tracing.otel.bridge.OtelTracer;
import io.micrometer.tracing.propagation.Propagator;
import io.opentelemetry.api.trace.propagation.W3CTraceContextPropagator;
import io.opentelemetry.context.propagation.ContextPropagators;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Tests for {@link ReceivedEvents} with the tracer of OpenTelemetry.
 */
class ReceivedEventsTests {

	@Test
	void makeASpanBelowThatOfTheAppend() {
		start(Tracing.class).run((context) -> {
			Tracer tracer = context.getBean(Tracer.class);
			Span span = tracer.nextSpan().name("place order").start();
			Tracer.SpanInScope scope = tracer.withSpan(span);
			try {
				append(context, "traced");
			}
			finally {
				scope.close();
				span.end();
			}
			TraceContext handled = Objects
				.requireNonNull(context.getBean(Tracing.class).handled.poll(60, TimeUnit.SECONDS));
			assertThat(handled.traceId()).isEqualTo(span.context().traceId());
			assertThat(handled.parentId()).isEqualTo(span.context().spanId());
		});
	}

	@Test
	void reportFailuresWithoutTheirMessages() {
		start(Tracing.class).run((context) -> {
			append(context, "failing");
			Tracing tracing = context.getBean(Tracing.class);
			await().untilAsserted(() -> assertThat(tracing.stopped).anySatisfy((observation) -> {
				assertThat(observation.getError())
					.hasMessage("The handler failed with java.lang.IllegalArgumentException");
				assertThat(observation.getLowCardinalityKeyValues()).contains(KeyValue.of("handler", "failing"),
						KeyValue.of("outcome", "retry"));
			}));
		});
	}

	@Test
	void affectNoHandlerIfTheyFail() {
		start(Broken.class).run((context) -> {
			append(context, "traced");
			assertThat(context.getBean(Broken.class).handled.poll(60, TimeUnit.SECONDS)).isEqualTo("handled");
			await().untilAsserted(() -> assertThat(
					context.getBean(JdbcTemplate.class).queryForList("select id from outbox_event", Long.class))
				.isEmpty());
			assertThat(context.getBean(Broken.class).handled).isEmpty();
		});
	}

	private static ApplicationContextRunner start(Class<?> configuration) {
		return OutboxApplication.with(configuration)
			.withConfiguration(AutoConfigurations.of(OutboxOperationsAutoConfiguration.class));
	}

	private static void append(ApplicationContext context, String type) {
		new TransactionTemplate(context.getBean(PlatformTransactionManager.class)).executeWithoutResult(
				(status) -> context.getBean(Outbox.class).append(OutboxEvent.of(type, List.of(1)).toTopic("handlers")));
	}

	@Configuration(proxyBeanMethods = false)
	static class Tracing {

		private final BlockingQueue<TraceContext> handled = new LinkedBlockingQueue<>();

		private final BlockingQueue<Observation.Context> stopped = new LinkedBlockingQueue<>();

		private final SdkTracerProvider provider = SdkTracerProvider.builder().build();

		private final Tracer tracer = new OtelTracer(this.provider.get("test"), new OtelCurrentTraceContext(),
				(event) -> {
				});

		@OutboxHandler(type = "traced", name = "traced")
		void handle() {
			this.handled.add(Objects.requireNonNull(this.tracer.currentTraceContext().context()));
		}

		@OutboxHandler(type = "failing", name = "failing")
		void fail() {
			throw new IllegalArgumentException("confidential");
		}

		@Bean
		Tracer tracer() {
			return this.tracer;
		}

		@Bean
		Propagator propagator() {
			return new OtelPropagator(ContextPropagators.create(W3CTraceContextPropagator.getInstance()),
					this.provider.get("test"));
		}

		@Bean
		ObservationRegistry observations(Tracer tracer, Propagator propagator) {
			ObservationRegistry registry = ObservationRegistry.create();
			registry.observationConfig()
				.observationHandler(new PropagatingReceiverTracingObservationHandler<>(tracer, propagator))
				.observationHandler(new Stopped(this.stopped));
			return registry;
		}

	}

	private record Stopped(
			BlockingQueue<Observation.Context> contexts) implements ObservationHandler<Observation.Context> {

		@Override
		public void onStop(Observation.Context context) {
			this.contexts.add(context);
		}

		@Override
		public boolean supportsContext(Observation.Context context) {
			return true;
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Broken {

		private final BlockingQueue<String> handled = new LinkedBlockingQueue<>();

		@OutboxHandler(type = "traced", name = "traced")
		void handle() {
			this.handled.add("handled");
		}

		@Bean
		ObservationRegistry observations() {
			ObservationRegistry registry = ObservationRegistry.create();
			registry.observationConfig().observationHandler(new ObservationHandler<>() {

				@Override
				public void onScopeOpened(Observation.Context context) {
					throw new IllegalStateException("broken");
				}

				@Override
				public void onStop(Observation.Context context) {
					throw new IllegalStateException("broken");
				}

				@Override
				public boolean supportsContext(Observation.Context context) {
					return true;
				}

			});
			return registry;
		}

	}

}
