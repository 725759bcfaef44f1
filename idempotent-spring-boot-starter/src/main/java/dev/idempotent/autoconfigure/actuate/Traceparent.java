package dev.idempotent.autoconfigure.actuate;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.micrometer.tracing.TraceContext;
import io.micrometer.tracing.Tracer;
import org.jspecify.annotations.Nullable;

/**
 * The text of a trace context in the format of
 * <a href="https://www.w3.org/TR/trace-context/">W3C Trace Context</a>, independent of
 * the propagation that the application uses.
 */
final class Traceparent {

	private static final Pattern TEXT = Pattern.compile("00-((?!0{32})[0-9a-f]{32})-((?!0{16})[0-9a-f]{16})-0([01])");

	private static final int SAMPLED = 3;

	private static final int TRACE_ID_LENGTH = 32;

	private Traceparent() {
	}

	/**
	 * Returns the text of the current context, or {@code null} without a valid one.
	 */
	static @Nullable String current(Tracer tracer) {
		TraceContext context = tracer.currentTraceContext().context();
		if (context == null) {
			return null;
		}
		String traceId = context.traceId();
		// Brave may use ids of 64 bits.
		String text = "00-" + "0".repeat(Math.max(0, TRACE_ID_LENGTH - traceId.length())) + traceId + "-"
				+ context.spanId() + (Boolean.TRUE.equals(context.sampled()) ? "-01" : "-00");
		return TEXT.matcher(text).matches() ? text : null;
	}

	/**
	 * Reads what {@link #current} has returned.
	 * @return {@code null} if it has another format
	 */
	static @Nullable TraceContext parse(@Nullable String text, Tracer tracer) {
		Matcher parts = TEXT.matcher((text != null) ? text : "");
		return parts.matches() ? context(tracer, parts.group(1), parts.group(2), parts.group(SAMPLED).equals("1"))
				: null;
	}

	static TraceContext context(Tracer tracer, String traceId, String spanId, boolean sampled) {
		return tracer.traceContextBuilder().traceId(traceId).spanId(spanId).sampled(sampled).build();
	}

}
