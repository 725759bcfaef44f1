package dev.idempotent.saga;

import java.time.Duration;

import org.jspecify.annotations.Nullable;
import org.springframework.core.ParameterizedTypeReference;

/**
 * Creates the steps and waits of the {@link Saga} that the calling thread runs.
 */
public interface SagaSteps {

	/**
	 * Creates a step without a result.
	 * @param name the name, unique in the saga; at most 100 characters
	 * @return the step, which does nothing until it is run
	 * @throws IllegalArgumentException if the name is blank or too long
	 * @throws IllegalStateException if the calling thread does not run a saga, or the
	 * saga already has a step of this name
	 */
	SagaStep<@Nullable Void> step(String name);

	/**
	 * Creates a step with a result.
	 * @param <R> the type of the result
	 * @param name the name, unique in the saga; at most 100 characters
	 * @param type the type of the result, which must be writable and readable as JSON
	 * @return the step, which does nothing until it is run
	 * @throws IllegalArgumentException if the name is blank or too long
	 * @throws IllegalStateException if the calling thread does not run a saga, or the
	 * saga already has a step of this name
	 */
	<R extends @Nullable Object> SagaStep<R> step(String name, Class<R> type);

	/**
	 * Creates a step with a result of a generic type.
	 * @param <R> the type of the result
	 * @param name the name, unique in the saga; at most 100 characters
	 * @param type the type of the result, which must be writable and readable as JSON
	 * @return the step, which does nothing until it is run
	 * @throws IllegalArgumentException if the name is blank or too long
	 * @throws IllegalStateException if the calling thread does not run a saga, or the
	 * saga already has a step of this name
	 */
	<R extends @Nullable Object> SagaStep<R> step(String name, ParameterizedTypeReference<R> type);

	/**
	 * Creates a wait for a signal without a value, or whose value does not matter.
	 * @param name the name of the signal, unique among the steps and waits of the saga;
	 * at most 100 characters
	 * @return the wait, which does nothing until its time is declared
	 * @throws IllegalArgumentException if the name is blank or too long
	 * @throws IllegalStateException if the calling thread does not run a saga, or the
	 * saga already has a step or a wait of this name
	 */
	SagaWait<@Nullable Void> await(String name);

	/**
	 * Creates a wait for a signal.
	 * @param <R> the type of the value
	 * @param name the name of the signal, unique among the steps and waits of the saga;
	 * at most 100 characters
	 * @param type the type of the value, as which the JSON of the signal is read
	 * @return the wait, which does nothing until its time is declared
	 * @throws IllegalArgumentException if the name is blank or too long
	 * @throws IllegalStateException if the calling thread does not run a saga, or the
	 * saga already has a step or a wait of this name
	 */
	<R extends @Nullable Object> SagaWait<R> await(String name, Class<R> type);

	/**
	 * Creates a wait for a signal with a value of a generic type.
	 * @param <R> the type of the value
	 * @param name the name of the signal, unique among the steps and waits of the saga;
	 * at most 100 characters
	 * @param type the type of the value, as which the JSON of the signal is read
	 * @return the wait, which does nothing until its time is declared
	 * @throws IllegalArgumentException if the name is blank or too long
	 * @throws IllegalStateException if the calling thread does not run a saga, or the
	 * saga already has a step or a wait of this name
	 */
	<R extends @Nullable Object> SagaWait<R> await(String name, ParameterizedTypeReference<R> type);

	/**
	 * Waits for some time, without a thread, a connection or a lease. The saga leaves its
	 * method by an {@link Error}, which the method must not catch, and goes on within a
	 * second after that time.
	 * @param name the name of the wait, unique among the steps and waits of the saga; at
	 * most 100 characters
	 * @param time how long, at most the {@linkplain Saga#timeout() timeout} of the saga
	 * @throws IllegalArgumentException if the name is blank or too long, the time is not
	 * positive, or longer than the timeout of the saga
	 * @throws IllegalStateException if the calling thread does not run a saga, or the
	 * saga already has a step or a wait of this name
	 */
	void sleep(String name, Duration time);

	/**
	 * Distinguishes sagas that have reached this place in an earlier version of the
	 * method from those that reach it now, so that open sagas keep their steps: {@code if
	 * (saga.version("two seats", 1) >= 1) { … } else { … }}. The result is recorded, and
	 * every run of the method gets the same one.
	 * @param change the name of the change, unique among the steps and waits of the saga;
	 * at most 100 characters
	 * @param current the number of the present version of the method, from 1
	 * @return that number for a saga that reaches this place for the first time, what is
	 * recorded for one that has reached it before, and 0 for one that has gone on from
	 * this place in a version without this call
	 * @throws IllegalArgumentException if the name is blank or too long, or the number is
	 * not positive
	 * @throws IllegalStateException if the calling thread does not run a saga, or the
	 * saga already has a step or a wait of this name
	 */
	int version(String change, int current);

}
