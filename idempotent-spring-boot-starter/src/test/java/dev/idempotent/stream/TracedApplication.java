package dev.idempotent.stream;

import java.util.Collection;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

import dev.idempotent.autoconfigure.idempotency.IdempotencyAutoConfiguration;
import dev.idempotent.autoconfigure.idempotency.IdempotencyMethodAutoConfiguration;
import dev.idempotent.autoconfigure.operations.ImportOperations;
import dev.idempotent.autoconfigure.outbox.OutboxAutoConfiguration;
import io.micrometer.tracing.Tracer;
import io.micrometer.tracing.handler.PropagatingReceiverTracingObservationHandler;
import io.micrometer.tracing.otel.bridge.OtelCurrentTraceContext;
import io.micrometer.tracing.otel.bridge.OtelPropagator;
import io.micrometer.tracing.otel.bridge.OtelTracer;
import io.micrometer.tracing.propagation.Propagator;
import io.opentelemetry.api.trace.propagation.W3CTraceContextPropagator;
import io.opentelemetry.context.propagation.ContextPropagators;
import io.opentelemetry.sdk.common.CompletableResultCode;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.export.SimpleSpanProcessor;
import io.opentelemetry.sdk.trace.export.SpanExporter;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration;
import org.springframework.boot.micrometer.observation.autoconfigure.ObservationAutoConfiguration;
import org.springframework.boot.transaction.autoconfigure.TransactionAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/**
 * An application with an outbox, stream listeners and OpenTelemetry, as Boot's tracing
 * module configures it.
 */
@Configuration(proxyBeanMethods = false)
@ImportAutoConfiguration({ DataSourceAutoConfiguration.class, DataSourceTransactionManagerAutoConfiguration.class,
		TransactionAutoConfiguration.class, ObservationAutoConfiguration.class, IdempotencyAutoConfiguration.class,
		IdempotencyMethodAutoConfiguration.class, OutboxAutoConfiguration.class })
@ImportOperations
class TracedApplication {

	@Bean
	Exporter exporter() {
		return new Exporter();
	}

	@Bean(destroyMethod = "close")
	SdkTracerProvider provider(Exporter exporter) {
		return SdkTracerProvider.builder().addSpanProcessor(SimpleSpanProcessor.create(exporter)).build();
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

	@Bean
	PropagatingReceiverTracingObservationHandler<?> receiverHandler(Tracer tracer, Propagator propagator) {
		return new PropagatingReceiverTracingObservationHandler<>(tracer, propagator);
	}

	/**
	 * Keeps the spans that have ended.
	 */
	static final class Exporter implements SpanExporter {

		final List<SpanData> spans = new CopyOnWriteArrayList<>();

		@Override
		public CompletableResultCode export(Collection<SpanData> ended) {
			this.spans.addAll(ended);
			return CompletableResultCode.ofSuccess();
		}

		@Override
		public CompletableResultCode flush() {
			return CompletableResultCode.ofSuccess();
		}

		@Override
		public CompletableResultCode shutdown() {
			return CompletableResultCode.ofSuccess();
		}

	}

}
