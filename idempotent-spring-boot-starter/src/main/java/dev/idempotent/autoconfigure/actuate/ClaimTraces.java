package dev.idempotent.autoconfigure.actuate;

import dev.idempotent.idempotency.RunOrigin;
import dev.idempotent.idempotency.engine.IdempotencyEngine.CurrentTrace;
import io.micrometer.tracing.Link;
import io.micrometer.tracing.Span;
import io.micrometer.tracing.TraceContext;
import io.micrometer.tracing.Tracer;
import org.jspecify.annotations.Nullable;

/**
 * Reads the trace context in which a key is claimed from the tracer of the application,
 * and links the trace of a replay to it.
 */
final class ClaimTraces implements CurrentTrace {

	private static final int TRACE_ID_LENGTH = 32;

	private final Tracer tracer;

	/**
	 * Creates the traces of an application.
	 * @param tracer the tracer of the application
	 */
	ClaimTraces(Tracer tracer) {
		this.tracer = tracer;
	}

	@Override
	public @Nullable String traceparent() {
		TraceContext context = this.tracer.currentTraceContext().context();
		if (context == null) {
			return null;
		}
		String traceId = context.traceId();
		// Brave may use ids of 64 bits.
		return "00-" + "0".repeat(Math.max(0, TRACE_ID_LENGTH - traceId.length())) + traceId + "-" + context.spanId()
				+ (Boolean.TRUE.equals(context.sampled()) ? "-01" : "-00");
	}

	/**
	 * Links the current trace, in which a response is replayed, to the first run with a
	 * short span: a link can only be added to a span that starts.
	 */
	void link(RunOrigin firstRun) {
		Span current = this.tracer.currentSpan();
		if (current == null || firstRun.traceId() == null || firstRun.spanId() == null) {
			return;
		}
		this.tracer.spanBuilder()
			.name("idempotency replay")
			.setParent(current.context())
			.addLink(new Link(this.tracer.traceContextBuilder()
				.traceId(firstRun.traceId())
				.spanId(firstRun.spanId())
				.sampled(firstRun.isSampled())
				.build()))
			.start()
			.end();
	}

}
