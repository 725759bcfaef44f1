package dev.idempotent.autoconfigure.actuate;

import java.util.function.Supplier;

import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.saga.engine.SagaTraces;
import io.micrometer.tracing.Span;
import io.micrometer.tracing.TraceContext;
import io.micrometer.tracing.Tracer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes each run of a saga in the background a span, in the trace in which the saga was
 * called or started.
 */
final class SagaSpans implements SagaTraces {

	private static final Logger logger = LoggerFactory.getLogger(SagaSpans.class);

	private final Tracer tracer;

	/**
	 * Creates an instance.
	 * @param tracer the tracer of the application
	 */
	SagaSpans(Tracer tracer) {
		this.tracer = tracer;
	}

	@Override
	public @Nullable String current() {
		try {
			return Traceparent.current(this.tracer);
		}
		catch (RuntimeException | Error ex) {
			logger.debug("The trace context of a saga could not be read", ex);
			return null;
		}
	}

	@Override
	public void trace(String saga, IdempotencyKey id, @Nullable String origin, Supplier<String> run) {
		OpenSpan span = open(saga, id, origin);
		String outcome = "failed";
		try {
			outcome = run.get();
		}
		finally {
			close(span, outcome);
		}
	}

	private @Nullable OpenSpan open(String saga, IdempotencyKey id, @Nullable String origin) {
		try {
			TraceContext parent = Traceparent.parse(origin, this.tracer);
			Span.Builder builder = this.tracer.spanBuilder().name("saga " + saga).tag("saga.id", id.digest());
			Span span = ((parent != null) ? builder.setParent(parent) : builder.setNoParent()).start();
			try {
				return new OpenSpan(span, this.tracer.withSpan(span));
			}
			catch (RuntimeException | Error ex) {
				span.end();
				throw ex;
			}
		}
		catch (RuntimeException | Error ex) {
			logger.debug("A span could not be started", ex);
			return null;
		}
	}

	private static void close(@Nullable OpenSpan open, String outcome) {
		if (open == null) {
			return;
		}
		try {
			try {
				open.scope().close();
			}
			finally {
				open.span().tag("outcome", outcome).end();
			}
		}
		catch (RuntimeException | Error ex) {
			logger.debug("A span could not be ended", ex);
		}
	}

	private record OpenSpan(Span span, Tracer.SpanInScope scope) {
	}

}
