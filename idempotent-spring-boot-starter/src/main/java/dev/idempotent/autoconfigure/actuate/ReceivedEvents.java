package dev.idempotent.autoconfigure.actuate;

import java.util.Locale;
import java.util.function.Supplier;

import dev.idempotent.outbox.Outcome;
import dev.idempotent.outbox.SerializedEvent;
import dev.idempotent.outbox.handler.HandlerEnvironment;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import io.micrometer.observation.transport.Kind;
import io.micrometer.observation.transport.ReceiverContext;
import org.jspecify.annotations.Nullable;

/**
 * Makes each attempt of a handler an observation named {@code outbox.handle}, whose span
 * is a child of the span in which the event was appended.
 */
final class ReceivedEvents implements HandlerEnvironment.Observation {

	private final ObservationRegistry registry;

	/**
	 * Creates an instance.
	 * @param registry receives the observations
	 */
	ReceivedEvents(ObservationRegistry registry) {
		this.registry = registry;
	}

	@Override
	public Outcome observe(SerializedEvent event, Supplier<Outcome> attempt) {
		Observation observation = Observation.createNotStarted("outbox.handle", () -> context(event), this.registry)
			.contextualName(event.destination() + " handle")
			.lowCardinalityKeyValue("handler", event.destination())
			.highCardinalityKeyValue("outbox.event.id", event.id().toString())
			.highCardinalityKeyValue("outbox.event.attempts", String.valueOf(event.attempts()));
		return observation.observe(() -> {
			Outcome outcome = attempt.get();
			observation.lowCardinalityKeyValue("outcome", outcome.getClass().getSimpleName().toLowerCase(Locale.ROOT));
			if (outcome instanceof Outcome.Retry retry) {
				observation.error(new IllegalStateException(retry.reason()));
			}
			else if (outcome instanceof Outcome.Reject reject) {
				observation.error(new IllegalStateException(reject.reason()));
			}
			return outcome;
		});
	}

	private static ReceiverContext<SerializedEvent> context(SerializedEvent event) {
		ReceiverContext<SerializedEvent> context = new ReceiverContext<>(ReceivedEvents::header, Kind.CONSUMER);
		context.setCarrier(event);
		return context;
	}

	/**
	 * The names of stored headers are in lower case, whatever the propagator.
	 */
	private static @Nullable String header(SerializedEvent event, String name) {
		return event.storedHeaders().get(name.toLowerCase(Locale.ROOT));
	}

}
