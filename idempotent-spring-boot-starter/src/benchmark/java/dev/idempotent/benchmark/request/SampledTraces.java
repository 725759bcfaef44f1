package dev.idempotent.benchmark.request;

import io.micrometer.observation.ObservationHandler;
import io.micrometer.tracing.Tracer;
import io.micrometer.tracing.handler.DefaultTracingObservationHandler;
import io.micrometer.tracing.handler.PropagatingReceiverTracingObservationHandler;
import io.micrometer.tracing.otel.bridge.OtelCurrentTraceContext;
import io.micrometer.tracing.otel.bridge.OtelPropagator;
import io.micrometer.tracing.otel.bridge.OtelTracer;
import io.micrometer.tracing.propagation.Propagator;
import io.opentelemetry.api.trace.propagation.W3CTraceContextPropagator;
import io.opentelemetry.context.propagation.ContextPropagators;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.samplers.Sampler;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/**
 * The tracer of OpenTelemetry, which samples 10 % of all traces and exports none.
 */
@Configuration(proxyBeanMethods = false)
class SampledTraces {

	private static final double SAMPLED = 0.1;

	@Bean(destroyMethod = "close")
	SdkTracerProvider tracerProvider() {
		return SdkTracerProvider.builder().setSampler(Sampler.parentBased(Sampler.traceIdRatioBased(SAMPLED))).build();
	}

	@Bean
	Tracer tracer(SdkTracerProvider provider) {
		return new OtelTracer(provider.get("benchmark"), new OtelCurrentTraceContext(), (event) -> {
		});
	}

	@Bean
	Propagator propagator(SdkTracerProvider provider) {
		return new OtelPropagator(ContextPropagators.create(W3CTraceContextPropagator.getInstance()),
				provider.get("benchmark"));
	}

	@Bean
	ObservationHandler<?> tracing(Tracer tracer, Propagator propagator) {
		return new ObservationHandler.FirstMatchingCompositeObservationHandler(
				new PropagatingReceiverTracingObservationHandler<>(tracer, propagator),
				new DefaultTracingObservationHandler(tracer));
	}

}
