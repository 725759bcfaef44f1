package dev.idempotent.saga;

import org.jspecify.annotations.Nullable;
import org.springframework.core.ParameterizedTypeReference;

/**
 * Creates the steps of the {@link Saga} that the calling thread runs.
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

}
