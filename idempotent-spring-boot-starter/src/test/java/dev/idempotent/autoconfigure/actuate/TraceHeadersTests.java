package dev.idempotent.autoconfigure.actuate;

import java.util.List;
import java.util.Map;

import dev.idempotent.outbox.Outbox;
import dev.idempotent.outbox.OutboxApplication;
import dev.idempotent.outbox.OutboxEvent;
import dev.idempotent.outbox.RecordingPublisher;
import io.micrometer.tracing.Span;
import io.micrometer.tracing.Tracer;
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
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Tests for the trace headers of events with the tracer of OpenTelemetry.
 */
class TraceHeadersTests {

	@Test
	void addTheTraceOfTheAppend() {
		start(Tracing.class).run((context) -> {
			Tracer tracer = context.getBean(Tracer.class);
			Span span = tracer.nextSpan().name("place order").start();
			Tracer.SpanInScope scope = tracer.withSpan(span);
			try {
				append(context);
			}
			finally {
				scope.close();
				span.end();
			}
			assertThat(headers(context).get("traceparent"))
				.matches("00-" + span.context().traceId() + "-" + span.context().spanId() + "-[0-9a-f]{2}");
		});
	}

	@Test
	void addNothingWithoutASpan() {
		start(Tracing.class).run((context) -> {
			append(context);
			assertThat(headers(context)).doesNotContainKey("traceparent").containsKey("ce_id");
		});
	}

	@Test
	void areAbsentWithoutATracer() {
		start(Untraced.class)
			.run((context) -> assertThat(context).hasNotFailed().doesNotHaveBean("outboxTraceHeaders"));
	}

	private static ApplicationContextRunner start(Class<?> configuration) {
		return OutboxApplication.with(configuration)
			.withConfiguration(AutoConfigurations.of(OutboxOperationsAutoConfiguration.class));
	}

	private static void append(ApplicationContext context) {
		new TransactionTemplate(context.getBean(PlatformTransactionManager.class)).executeWithoutResult(
				(status) -> context.getBean(Outbox.class).append(OutboxEvent.of("order.created", List.of(1))));
	}

	private static Map<String, String> headers(ApplicationContext context) {
		RecordingPublisher publisher = context.getBean(RecordingPublisher.class);
		await().until(() -> !publisher.published().isEmpty());
		return publisher.published().get(0).headers();
	}

	@Configuration(proxyBeanMethods = false)
	static class Untraced {

	}

	@Configuration(proxyBeanMethods = false)
	static class Tracing {

		@Bean(destroyMethod = "close")
		SdkTracerProvider provider() {
			return SdkTracerProvider.builder().build();
		}

		@Bean
		Tracer tracer(SdkTracerProvider provider) {
			return new OtelTracer(provider.get("test"), new OtelCurrentTraceContext(), (event) -> {
			});
		}

		@Bean
		Propagator propagator(SdkTracerProvider provider) {
			return new OtelPropagator(ContextPropagators.create(W3CTraceContextPropagator.getInstance()),
					provider.get("test"));
		}

	}

}
