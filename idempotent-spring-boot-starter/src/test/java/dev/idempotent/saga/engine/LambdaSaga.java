package dev.idempotent.saga.engine;

import java.lang.reflect.Type;
import java.time.Duration;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.json.JsonMapper;

/**
 * A saga whose body ignores its arguments.
 */
record LambdaSaga(String name, Duration timeout, Supplier<? extends @Nullable Object> body) implements SagaDefinition {

	private static final JsonMapper JSON = JsonMapper.builder().build();

	static LambdaSaga of(Supplier<? extends @Nullable Object> body) {
		return new LambdaSaga("checkout", Duration.ofMinutes(10), body);
	}

	@Override
	public @Nullable Object run(byte[] arguments) {
		return this.body.get();
	}

	@Override
	public byte[] writeResult(@Nullable Object result) {
		return JSON.writeValueAsBytes(result);
	}

	@Override
	public @Nullable Object readResult(byte[] stored) {
		return JSON.readValue(stored, Object.class);
	}

	@Override
	public byte[] writeStepResult(Type type, @Nullable Object result) {
		return JSON.writeValueAsBytes(result);
	}

	@Override
	public @Nullable Object readStepResult(Type type, byte[] stored) {
		try {
			return JSON.readValue(stored, JSON.constructType(type));
		}
		catch (JacksonException ex) {
			throw new UnreadableException("unreadable", ex);
		}
	}

}
