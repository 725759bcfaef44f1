package dev.idempotent.autoconfigure.actuate;

import java.util.Locale;

import dev.idempotent.idempotency.IdempotencyObserver;
import dev.idempotent.idempotency.RunOrigin;
import io.micrometer.common.KeyValue;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import io.micrometer.observation.ObservationView;
import io.micrometer.observation.transport.ReceiverContext;
import org.jspecify.annotations.Nullable;

/**
 * Adds the operation and the outcome to the current observation, and to a replay the
 * trace of the run that made its response. The key values have a high cardinality, so
 * that they appear on spans and not as tags of meters.
 */
final class MicrometerIdempotencyObserver implements IdempotencyObserver {

	private final ObservationRegistry registry;

	private final @Nullable ClaimTraces traces;

	/**
	 * Creates an observer.
	 * @param registry provides the current observation
	 * @param traces link the trace of a replay to the trace of the first run;
	 * {@code null} without a tracer
	 */
	MicrometerIdempotencyObserver(ObservationRegistry registry, @Nullable ClaimTraces traces) {
		this.registry = registry;
		this.traces = traces;
	}

	@Override
	public void decided(Decision decision) {
		Observation current = this.registry.getCurrentObservation();
		if (current == null) {
			return;
		}
		Observation target = (decision.operation().kind() == Operation.Kind.HTTP) ? ofRequest(current) : current;
		target.highCardinalityKeyValue("idempotency.operation", decision.operation().name());
		target.highCardinalityKeyValue("idempotency.outcome",
				decision.outcome().name().toLowerCase(Locale.ROOT).replace('_', '-'));
		RunOrigin origin = decision.origin();
		if (origin != null && origin.traceId() != null) {
			target.highCardinalityKeyValue(KeyValue.of("idempotency.first_run.trace_id", origin.traceId()));
			if (this.traces != null) {
				this.traces.link(origin);
			}
		}
	}

	/**
	 * Finds the observation of the request, which surrounds the observations of filters.
	 */
	private static Observation ofRequest(Observation current) {
		ObservationView view = current;
		while (view instanceof Observation observation) {
			if (observation.getContext() instanceof ReceiverContext<?>) {
				return observation;
			}
			view = observation.getContext().getParentObservation();
		}
		return current;
	}

}
