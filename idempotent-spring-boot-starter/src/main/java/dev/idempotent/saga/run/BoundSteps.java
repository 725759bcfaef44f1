package dev.idempotent.saga.run;

import java.lang.reflect.Type;

import dev.idempotent.saga.SagaStep;
import dev.idempotent.saga.SagaSteps;
import org.jspecify.annotations.Nullable;
import org.springframework.core.ParameterizedTypeReference;

/**
 * The steps of the body that is bound to the calling thread.
 */
final class BoundSteps implements SagaSteps {

	private static final int LONGEST_NAME = 100;

	private static final ThreadLocal<@Nullable SagaBody> bound = new ThreadLocal<>();

	/**
	 * Binds a body to the calling thread.
	 * @param body the body, or {@code null} for none
	 */
	static void bind(@Nullable SagaBody body) {
		if (body != null) {
			bound.set(body);
		}
		else {
			bound.remove();
		}
	}

	static boolean isBound() {
		return bound.get() != null;
	}

	@Override
	public SagaStep<@Nullable Void> step(String name) {
		return create(name, Void.class);
	}

	@Override
	public <R extends @Nullable Object> SagaStep<R> step(String name, Class<R> type) {
		return create(name, type);
	}

	@Override
	public <R extends @Nullable Object> SagaStep<R> step(String name, ParameterizedTypeReference<R> type) {
		return create(name, type.getType());
	}

	private static <R extends @Nullable Object> SagaStep<R> create(String name, Type type) {
		SagaBody body = bound.get();
		if (body == null) {
			throw new IllegalStateException("The step '" + name + "' was created outside a saga, or on another thread "
					+ "than that of its saga. Create it in a method that is annotated with @Saga and called from "
					+ "another bean");
		}
		if (name.isBlank() || name.length() > LONGEST_NAME) {
			throw new IllegalArgumentException("The name of a step must have 1 to " + LONGEST_NAME + " characters");
		}
		StepCall<R> call = new StepCall<>(body::step, name, type);
		body.add(call);
		return call;
	}

}
