package dev.idempotent.outbox.tracing;

import java.util.Locale;
import java.util.function.BiConsumer;

import dev.idempotent.outbox.OutboxHeaderContributor;
import io.micrometer.tracing.TraceContext;
import io.micrometer.tracing.Tracer;
import io.micrometer.tracing.propagation.Propagator;

/**
 * Adds the headers of the span in which an event is appended, as the application's
 * propagator writes them: {@code traceparent} in the W3C's format, with
 * {@code tracestate} and {@code baggage} where there are any. Without a span it adds
 * nothing.
 */
public final class TraceHeaders implements OutboxHeaderContributor {

	private final Tracer tracer;

	private final Propagator propagator;

	/**
	 * Creates a contributor.
	 * @param tracer knows the current span
	 * @param propagator writes headers
	 */
	public TraceHeaders(Tracer tracer, Propagator propagator) {
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
