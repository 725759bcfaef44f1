package dev.idempotent.autoconfigure.outbox;

import dev.idempotent.outbox.jdbc.OutboxTables;
import dev.idempotent.outbox.tracing.TraceHeaders;
import io.micrometer.tracing.Tracer;
import io.micrometer.tracing.propagation.Propagator;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.context.annotation.Bean;

/**
 * Lets events take their traces along.
 */
@AutoConfiguration(after = OutboxAutoConfiguration.class, afterName = {
		"org.springframework.boot.micrometer.tracing.autoconfigure.MicrometerTracingAutoConfiguration",
		"org.springframework.boot.micrometer.tracing.brave.autoconfigure.BraveAutoConfiguration",
		"org.springframework.boot.micrometer.tracing.opentelemetry.autoconfigure.OpenTelemetryTracingAutoConfiguration" })
@ConditionalOnClass(Tracer.class)
@ConditionalOnBean(OutboxTables.class)
public final class OutboxTracingAutoConfiguration {

	@Bean
	@ConditionalOnBean({ Tracer.class, Propagator.class })
	TraceHeaders outboxTraceHeaders(Tracer tracer, Propagator propagator) {
		return new TraceHeaders(tracer, propagator);
	}

}
