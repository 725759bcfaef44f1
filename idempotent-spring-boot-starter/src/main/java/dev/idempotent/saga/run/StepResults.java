package dev.idempotent.saga.run;

import java.lang.reflect.Type;

import org.jspecify.annotations.Nullable;

/**
 * Writes and reads the results of steps.
 */
public interface StepResults {

	/**
	 * Writes a result.
	 * @param type the type of the step
	 * @param result the result
	 * @return the stored form, never empty
	 * @throws RuntimeException if it cannot be written
	 */
	byte[] write(Type type, @Nullable Object result);

	/**
	 * Reads a result.
	 * @param type the type of the step
	 * @param stored the stored form
	 * @return the result
	 * @throws SagaDefinition.UnreadableException if it cannot be read as the type
	 */
	@Nullable Object read(Type type, byte[] stored);

	/**
	 * Writes a result that can be read back.
	 * @param type the type of the step
	 * @param result the result
	 * @return the stored form
	 * @throws SagaDefinition.UnreadableException if it cannot be read as the type
	 */
	default byte[] writeReadable(Type type, @Nullable Object result) {
		byte[] written = write(type, result);
		@Nullable Object unused = read(type, written);
		return written;
	}

}
