package dev.idempotent.outbox.handler;

import java.lang.reflect.Type;
import java.time.Duration;
import java.util.function.Supplier;

import dev.idempotent.outbox.Outcome;
import dev.idempotent.outbox.SerializedEvent;
import org.jspecify.annotations.Nullable;

/**
 * What an application provides for its handlers.
 */
public interface HandlerEnvironment {

	/**
	 * How many events of a handler this instance handles at the same time.
	 * @param handler the name of the handler
	 * @return at least 1
	 */
	int concurrency(String handler);

	/**
	 * How long this instance leases an event: the longest duration of an attempt.
	 * @param handler the name of the handler
	 * @return the lease
	 */
	Duration lease(String handler);

	/**
	 * How many attempts an event has before it is dead.
	 * @return at least 1
	 */
	int attempts();

	/**
	 * The longest wait between two attempts of an event.
	 * @return the limit of the backoff
	 */
	Duration maxBackoff();

	/**
	 * Creates a thread of a handler.
	 * @param work what it does
	 * @return a thread that is not started
	 */
	Thread newThread(Runnable work);

	/**
	 * Converts a payload to a type other than {@code byte[]} and {@code String}.
	 * @param payload its bytes
	 * @param type the type of the parameter
	 * @return a value of that type
	 * @throws RuntimeException if it cannot be converted
	 */
	@Nullable Object read(byte[] payload, Type type);

	/**
	 * Observes the attempts of handlers, such as by spans.
	 */
	@FunctionalInterface
	interface Observation {

		/**
		 * Runs an attempt in its observation.
		 * @param event the event
		 * @param attempt to be run once
		 * @return its outcome
		 */
		Outcome observe(SerializedEvent event, Supplier<Outcome> attempt);

	}

}
