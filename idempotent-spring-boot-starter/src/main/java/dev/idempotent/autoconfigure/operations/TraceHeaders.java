package dev.idempotent.autoconfigure.operations;

import java.util.Locale;
import java.util.function.BiConsumer;

import dev.idempotent.outbox.OutboxHeaderContributor;
import io.micrometer.tracing.TraceContext;
import io.micrometer.tracing.Tracer;
import io.micrometer.tracing.propagation.Propagator;

/**
 * Adds the trace context of the span in which an event is appended, with the propagator
 * of the application: {@code traceparent} in the format of the W3C, {@code tracestate}
 * and {@code baggage} where present. Adds nothing without a span.
 */
final class TraceHeaders implements OutboxHeaderContributor {

	private final Tracer tracer;

	private final Propagator propagator;

	/**
	 * Creates a contributor.
	 * @param tracer provides the current span
	 * @param propagator writes the headers
	 */
	TraceHeaders(Tracer tracer, Propagator propagator) {
		this.tracer = tracer;
		this.propagator = propagator;
	}

	@Override
	public void contribute(BiConsumer<String, String> headers) {
		TraceContext context = this.tracer.currentTraceContext().context();
		if (context != null) {
			this.propagator.<BiConsumer<String, String>>inject(context, headers,
					(carrier, name, value) -> headers.accept(name.toLowerCase(Locale.ROOT), value));
		}
	}

}
