package dev.idempotent.saga.run;

import java.lang.reflect.Type;
import java.util.Set;

import dev.idempotent.saga.SagaStep;
import dev.idempotent.saga.SagaSteps;
import org.jspecify.annotations.Nullable;
import org.springframework.core.ParameterizedTypeReference;

/**
 * The steps of the body that is bound to the calling thread.
 */
final class BoundSteps implements SagaSteps {

	private static final int LONGEST_NAME = 100;

	private static final Set<Integer> INVALID = Set.of((int) Character.CONTROL, (int) Character.SURROGATE,
			(int) Character.LINE_SEPARATOR, (int) Character.PARAGRAPH_SEPARATOR);

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

	/**
	 * Returns the body that is bound to the calling thread, or {@code null}.
	 */
	static @Nullable SagaBody current() {
		return bound.get();
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
		if (!isValid(name)) {
			throw new IllegalArgumentException("The name of a step must have 1 to " + LONGEST_NAME + " characters, "
					+ "without control characters, incomplete ones, and white space at its ends: '"
					+ StoredText.of(name) + "'");
		}
		StepCall<R> call = new StepCall<>(body, name, type);
		body.add(call);
		return call;
	}

	/**
	 * Returns whether each database stores and compares a name as it is.
	 */
	private static boolean isValid(String name) {
		return !name.isEmpty() && name.length() <= LONGEST_NAME && name.equals(name.strip())
				&& name.codePoints().mapToObj(Character::getType).noneMatch(INVALID::contains);
	}

}
