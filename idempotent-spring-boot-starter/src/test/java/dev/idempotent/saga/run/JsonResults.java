package dev.idempotent.saga.run;

import java.lang.reflect.Type;

import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.json.JsonMapper;

/**
 * Results as JSON.
 */
final class JsonResults implements StepResults {

	static final JsonMapper JSON = JsonMapper.builder().build();

	@Override
	public byte[] write(Type type, @Nullable Object result) {
		return JSON.writeValueAsBytes(result);
	}

	@Override
	public @Nullable Object read(Type type, byte[] stored) {
		try {
			return JSON.readValue(stored, JSON.constructType(type));
		}
		catch (JacksonException ex) {
			throw new SagaDefinition.UnreadableException("unreadable", ex);
		}
	}

}
