package dev.idempotent.autoconfigure.actuate;

import java.util.Locale;
import java.util.Map;

import dev.idempotent.stream.ConsumerGroup;
import dev.idempotent.stream.StreamObservation;
import dev.idempotent.stream.StreamObserver.Outcome;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import io.micrometer.observation.transport.Kind;
import io.micrometer.observation.transport.ReceiverContext;
import org.jspecify.annotations.Nullable;

/**
 * Makes each delivery an observation named {@code stream.process}, whose span is a child
 * of the span in the headers of the entry.
 */
final class ReceiverObservation implements StreamObservation {

	private final ObservationRegistry registry;

	/**
	 * Creates an instance.
	 * @param registry receives the observations
	 */
	ReceiverObservation(ObservationRegistry registry) {
		this.registry = registry;
	}

	@Override
	public Scope open(ConsumerGroup group, String id, long deliveries, Map<String, String> headers) {
		Observation.@Nullable Scope previous = this.registry.getCurrentObservationScope();
		Observation observation = Observation.createNotStarted("stream.process", () -> context(headers), this.registry)
			.contextualName(group.stream() + " process")
			.lowCardinalityKeyValue("stream", group.stream())
			.lowCardinalityKeyValue("group", group.group())
			.highCardinalityKeyValue("stream.entry.id", id)
			.highCardinalityKeyValue("stream.entry.deliveries", String.valueOf(deliveries));
		observation.start();
		try {
			Observation.Scope scope = observation.openScope();
			return new Scope() {

				@Override
				public void failed(Throwable failure) {
					observation.error(failure);
				}

				@Override
				public void close(Outcome outcome) {
					observation.lowCardinalityKeyValue("outcome", outcome.tag());
					end(observation, scope, previous);
				}

			};
		}
		catch (RuntimeException | Error ex) {
			end(observation, this.registry.getCurrentObservationScope(), previous);
			throw ex;
		}
	}

	/**
	 * Restores the previous scope even if a handler throws, which the registry does not.
	 */
	private void end(Observation observation, Observation.@Nullable Scope scope, Observation.@Nullable Scope previous) {
		try {
			if (scope != null && scope != previous) {
				scope.close();
			}
		}
		finally {
			this.registry.setCurrentObservationScope(previous);
			observation.stop();
		}
	}

	private static ReceiverContext<Map<String, String>> context(Map<String, String> headers) {
		ReceiverContext<Map<String, String>> context = new ReceiverContext<>(ReceiverObservation::header,
				Kind.CONSUMER);
		context.setCarrier(headers);
		context.setRemoteServiceName("redis");
		return context;
	}

	/**
	 * The outbox writes the names of headers in lower case, whatever the propagator.
	 */
	private static @Nullable String header(Map<String, String> headers, String name) {
		String value = headers.get(name);
		return (value != null) ? value : headers.get(name.toLowerCase(Locale.ROOT));
	}

}
