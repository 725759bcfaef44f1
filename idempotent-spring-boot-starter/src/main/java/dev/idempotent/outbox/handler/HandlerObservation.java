package dev.idempotent.outbox.handler;

import java.util.function.Supplier;

import dev.idempotent.outbox.Outcome;
import dev.idempotent.outbox.SerializedEvent;

/**
 * Observes the attempts of handlers, such as by spans.
 */
@FunctionalInterface
public interface HandlerObservation {

	/**
	 * Runs an attempt in its observation.
	 * @param event the event
	 * @param attempt to be run once
	 * @return its outcome
	 */
	Outcome observe(SerializedEvent event, Supplier<Outcome> attempt);

}
