package dev.idempotent.saga.engine;

import java.lang.reflect.Type;
import java.time.Duration;

import org.jspecify.annotations.Nullable;

/**
 * A saga as the application has defined it.
 */
public interface SagaDefinition {

	/**
	 * The name under which it is stored.
	 * @return the name
	 */
	String name();

	/**
	 * The time until its deadline.
	 * @return at least 1 ms
	 */
	Duration timeout();

	/**
	 * Runs the body once, inside the advice that surrounds it, without security context
	 * and request attributes.
	 * @param arguments the stored arguments
	 * @return its result
	 * @throws UnreadableException if the arguments cannot be read
	 * @throws Throwable what the body throws
	 */
	@Nullable Object run(byte[] arguments) throws Throwable;

	/**
	 * Writes a result of the body.
	 * @param result the result
	 * @return the stored form, never empty
	 * @throws RuntimeException if it cannot be written
	 */
	byte[] writeResult(@Nullable Object result);

	/**
	 * Reads a result of the body.
	 * @param stored the stored form
	 * @return the result
	 * @throws dev.idempotent.idempotency.IdempotencyResultException if it cannot be read
	 */
	@Nullable Object readResult(byte[] stored);

	/**
	 * Requires that results of a step can be recorded, before it is begun.
	 * @param step the name of the step
	 * @param type the type of the step
	 * @throws IllegalArgumentException if it is known that they cannot
	 */
	default void requireStepResult(String step, Type type) {
	}

	/**
	 * Writes the result of a step.
	 * @param type the type of the step
	 * @param result the result
	 * @return the stored form, never empty
	 * @throws RuntimeException if it cannot be written
	 */
	byte[] writeStepResult(Type type, @Nullable Object result);

	/**
	 * Reads the result of a step.
	 * @param type the type of the step
	 * @param stored the stored form
	 * @return the result
	 * @throws UnreadableException if it cannot be read as the type
	 */
	@Nullable Object readStepResult(Type type, byte[] stored);

	/**
	 * Reads the value of a signal, which may have members that the type does not have.
	 * @param type the type of the wait
	 * @param stored the stored form
	 * @return the value; {@code null} if it has none
	 * @throws UnreadableException if it cannot be read as the type
	 */
	default @Nullable Object readSignal(Type type, byte[] stored) {
		return readStepResult(type, stored);
	}

	/**
	 * Returns whether a text is JSON and has a value that is not null at a place.
	 * @param json any text
	 * @param pointer a JSON pointer
	 * @return {@code false} also if it is not JSON
	 */
	default boolean hasValue(String json, String pointer) {
		return false;
	}

	/**
	 * Stored data cannot be read, such as by another version of the application.
	 */
	class UnreadableException extends RuntimeException {

		/**
		 * Creates an exception.
		 * @param message what cannot be read, without data
		 * @param cause why
		 */
		public UnreadableException(String message, @Nullable Throwable cause) {
			super(message, cause);
		}

	}

}
