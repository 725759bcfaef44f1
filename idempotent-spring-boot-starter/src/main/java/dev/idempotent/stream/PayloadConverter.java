package dev.idempotent.stream;

import java.lang.reflect.Type;

import org.jspecify.annotations.Nullable;

/**
 * Reads payloads that are neither taken as bytes nor as text.
 */
@FunctionalInterface
public interface PayloadConverter {

	/**
	 * Reads a payload.
	 * @param payload its bytes
	 * @param type what the listener's parameter is
	 * @return a value of that type, or {@code null} if the payload says so
	 * @throws RuntimeException if it cannot be read as that
	 */
	@Nullable Object read(byte[] payload, Type type);

}
