package dev.idempotent.stream;

import java.lang.reflect.Type;

import org.jspecify.annotations.Nullable;
import tools.jackson.databind.json.JsonMapper;

/**
 * Reads payloads as JSON.
 */
public final class JsonPayloadConverter implements PayloadConverter {

	private final JsonMapper mapper;

	/**
	 * Creates a conversion.
	 * @param mapper the application's
	 */
	public JsonPayloadConverter(JsonMapper mapper) {
		this.mapper = mapper;
	}

	@Override
	public @Nullable Object read(byte[] payload, Type type) {
		return this.mapper.readValue(payload, this.mapper.constructType(type));
	}

}
