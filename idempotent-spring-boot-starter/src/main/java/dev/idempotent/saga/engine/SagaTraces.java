package dev.idempotent.saga.engine;

import java.util.function.Supplier;

import dev.idempotent.idempotency.IdempotencyKey;
import org.jspecify.annotations.Nullable;

/**
 * Continues the trace in which a saga was called or started when it is run in the
 * background, such as after a wait. Its methods throw nothing of their own: without a
 * working tracer, sagas run without traces.
 */
public interface SagaTraces {

	/**
	 * Traces nothing.
	 */
	SagaTraces NONE = new SagaTraces() {

		@Override
		public @Nullable String current() {
			return null;
		}

		@Override
		public void trace(String saga, IdempotencyKey id, @Nullable String origin, Supplier<String> run) {
			String unused = run.get();
		}

	};

	/**
	 * The trace context of the calling thread.
	 * @return its text in the format of
	 * <a href="https://www.w3.org/TR/trace-context/">W3C Trace Context</a>, or
	 * {@code null} without one
	 */
	@Nullable String current();

	/**
	 * Runs a saga within a span.
	 * @param saga the name of the saga
	 * @param id its id
	 * @param origin what {@link #current()} has returned when the saga was created: the
	 * span is a child of it, or the first of a new trace if this is {@code null}
	 * @param run runs the saga and returns how the run has ended; called exactly once
	 */
	void trace(String saga, IdempotencyKey id, @Nullable String origin, Supplier<String> run);

}
