package dev.idempotent.saga;

import java.time.Duration;
import java.util.Optional;

import org.jspecify.annotations.Nullable;

/**
 * A wait of a saga for a signal, which {@link Sagas#signal} sends. Declare with one of
 * the methods how long it lasts. A wait is recorded like a step: every run of the method
 * gets the same outcome.
 * <p>
 * If the signal has not arrived yet, the saga leaves its method by an {@link Error},
 * which the method must not catch, and needs no thread, connection or lease until the
 * signal arrives or the time has passed. The time counts from the beginning of the wait,
 * by the clock of the database. A signal that arrives later still counts if no instance
 * has recorded before that the time has passed.
 *
 * @param <R> the type of the value of the signal
 */
public interface SagaWait<R extends @Nullable Object> {

	/**
	 * Waits for the signal. If it does not arrive in time, the saga is undone unless the
	 * method catches the exception.
	 * @param limit how long, at most the {@linkplain Saga#timeout() timeout} of the saga
	 * @return the value of the signal; {@code null} if the wait has no type
	 * @throws StepRefusedException if the signal did not arrive in time
	 * @throws IllegalArgumentException if the limit is not positive, or longer than the
	 * timeout of the saga
	 */
	R within(Duration limit);

	/**
	 * Waits for the signal, and goes on without it if it does not arrive in time.
	 * @param limit how long, at most the {@linkplain Saga#timeout() timeout} of the saga
	 * @return the value of the signal; empty if it did not arrive in time
	 * @throws IllegalStateException if the wait has no type
	 * @throws IllegalArgumentException if the limit is not positive, or longer than the
	 * timeout of the saga
	 */
	Optional<R> orEmptyAfter(Duration limit);

	/**
	 * Waits for a signal whose value does not matter.
	 * @param limit how long, at most the {@linkplain Saga#timeout() timeout} of the saga
	 * @return whether it arrived in time
	 * @throws IllegalArgumentException if the limit is not positive, or longer than the
	 * timeout of the saga
	 */
	boolean arrivesWithin(Duration limit);

}
