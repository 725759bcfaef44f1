package dev.idempotent.idempotency.tracing;

import dev.idempotent.idempotency.claim.CurrentTrace;
import io.micrometer.tracing.TraceContext;
import io.micrometer.tracing.Tracer;
import org.jspecify.annotations.Nullable;

/**
 * Reads the trace context in which a key is claimed from the tracer of the application.
 */
public final class ClaimTraces implements CurrentTrace {

	private static final int TRACE_ID_LENGTH = 32;

	private final Tracer tracer;

	/**
	 * Creates a reader.
	 * @param tracer the tracer of the application
	 */
	public ClaimTraces(Tracer tracer) {
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

}
