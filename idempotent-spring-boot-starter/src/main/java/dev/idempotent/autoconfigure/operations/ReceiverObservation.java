package dev.idempotent.autoconfigure.operations;

import java.util.Locale;
import java.util.Map;

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
	public Scope open(Delivery delivery) {
		Observation.@Nullable Scope previous = this.registry.getCurrentObservationScope();
		Observation observation = Observation.createNotStarted("stream.process", () -> context(delivery), this.registry)
			.contextualName(delivery.group().stream() + " process")
			.lowCardinalityKeyValue("stream", delivery.group().stream())
			.lowCardinalityKeyValue("group", delivery.group().group())
			.highCardinalityKeyValue("stream.entry.id", delivery.id())
			.highCardinalityKeyValue("stream.entry.deliveries", String.valueOf(delivery.deliveries()));
		observation.start();
		try {
			return new ObservationScope(observation, observation.openScope(), previous);
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

	private static ReceiverContext<Map<String, String>> context(Delivery delivery) {
		ReceiverContext<Map<String, String>> context = new ReceiverContext<>(ReceiverObservation::header,
				Kind.CONSUMER);
		context.setCarrier(delivery.headers());
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

	/**
	 * The scope of one observation.
	 */
	private final class ObservationScope implements Scope {

		private final Observation observation;

		private final Observation.Scope scope;

		private final Observation.@Nullable Scope previous;

		private ObservationScope(Observation observation, Observation.Scope scope,
				Observation.@Nullable Scope previous) {
			this.observation = observation;
			this.scope = scope;
			this.previous = previous;
		}

		@Override
		public void failed(Throwable failure) {
			this.observation.error(failure);
		}

		@Override
		public void close(Outcome outcome) {
			this.observation.lowCardinalityKeyValue("outcome", outcome.tag());
			end(this.observation, this.scope, this.previous);
		}

	}

}
