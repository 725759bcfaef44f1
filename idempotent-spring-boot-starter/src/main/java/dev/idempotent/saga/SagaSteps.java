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

}
