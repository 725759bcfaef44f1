package dev.idempotent.saga.run;

import java.time.Duration;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

/**
 * A saga whose body ignores its arguments.
 */
record LambdaSaga(String name, Duration timeout, Supplier<? extends @Nullable Object> body) implements SagaDefinition {

	static LambdaSaga of(Supplier<? extends @Nullable Object> body) {
		return new LambdaSaga("checkout", Duration.ofMinutes(10), body);
	}

	@Override
	public @Nullable Object run(byte[] arguments) {
		return this.body.get();
	}

	@Override
	public byte[] writeResult(@Nullable Object result) {
		return JsonResults.JSON.writeValueAsBytes(result);
	}

	@Override
	public @Nullable Object readResult(byte[] stored) {
		return JsonResults.JSON.readValue(stored, Object.class);
	}

}
