package dev.idempotent.stream;

import java.lang.reflect.Type;

import org.jspecify.annotations.Nullable;

/**
 * Converts payloads for listener parameters other than {@code byte[]} and {@code String}.
 */
@FunctionalInterface
public interface PayloadConverter {

	/**
	 * Converts a payload.
	 * @param payload its bytes
	 * @param type the type of the listener's parameter
	 * @return a value of that type, or {@code null} if the payload represents null
	 * @throws RuntimeException if the payload cannot be converted; the entry is moved to
	 * the dead-letter stream
	 */
	@Nullable Object read(byte[] payload, Type type);

}
