package dev.idempotent.idempotency.tracing;

import dev.idempotent.idempotency.RunOrigin;
import io.micrometer.tracing.Link;
import io.micrometer.tracing.Span;
import io.micrometer.tracing.Tracer;

/**
 * Links the trace of a replay to the first run with a short span: a link can only be
 * added to a span that starts.
 */
public final class ReplayLink {

	private final Tracer tracer;

	/**
	 * Creates the links of an application.
	 * @param tracer the tracer of the application
	 */
	public ReplayLink(Tracer tracer) {
		this.tracer = tracer;
	}

	void add(RunOrigin firstRun) {
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
