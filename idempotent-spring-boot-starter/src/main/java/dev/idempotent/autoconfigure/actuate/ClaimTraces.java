package dev.idempotent.autoconfigure.actuate;

import dev.idempotent.idempotency.RunOrigin;
import dev.idempotent.idempotency.engine.IdempotencyEngine.CurrentTrace;
import io.micrometer.tracing.Link;
import io.micrometer.tracing.Span;
import io.micrometer.tracing.Tracer;
import org.jspecify.annotations.Nullable;

/**
 * Reads the trace context in which a key is claimed from the tracer of the application,
 * and links the trace of a replay to it.
 */
final class ClaimTraces implements CurrentTrace {

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
		return Traceparent.current(this.tracer);
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
			.addLink(new Link(
					Traceparent.context(this.tracer, firstRun.traceId(), firstRun.spanId(), firstRun.isSampled())))
			.start()
			.end();
	}

}
