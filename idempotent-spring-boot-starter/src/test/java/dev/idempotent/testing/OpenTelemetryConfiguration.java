package dev.idempotent.testing;

import io.micrometer.tracing.Tracer;
import io.micrometer.tracing.otel.bridge.OtelCurrentTraceContext;
import io.micrometer.tracing.otel.bridge.OtelPropagator;
import io.micrometer.tracing.otel.bridge.OtelTracer;
import io.micrometer.tracing.propagation.Propagator;
import io.opentelemetry.api.trace.propagation.W3CTraceContextPropagator;
import io.opentelemetry.context.propagation.ContextPropagators;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.export.SimpleSpanProcessor;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/**
 * The tracer of OpenTelemetry, as Boot's tracing module configures it. Its spans are
 * recorded.
 */
@Configuration(proxyBeanMethods = false)
public class OpenTelemetryConfiguration {

	@Bean
	RecordedSpans spans() {
		return new RecordedSpans();
	}

	@Bean(destroyMethod = "close")
	SdkTracerProvider tracerProvider(RecordedSpans spans) {
		return SdkTracerProvider.builder().addSpanProcessor(SimpleSpanProcessor.create(spans)).build();
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
