package dev.idempotent.advice;

import org.jspecify.annotations.Nullable;
import org.springframework.expression.AccessException;
import org.springframework.expression.EvaluationContext;
import org.springframework.expression.EvaluationException;
import org.springframework.expression.MethodExecutor;
import org.springframework.expression.MethodResolver;
import org.springframework.expression.PropertyAccessor;
import org.springframework.expression.TypedValue;

/**
 * Keeps {@link ExtremeNumbers} from an expression with arithmetic.
 */
final class BoundedNumbers {

	private BoundedNumbers() {
	}

	/**
	 * Lets a value through.
	 * @throws EvaluationException if it has an extreme number in it
	 */
	static <T extends @Nullable Object> T require(T value) {
		if (ExtremeNumbers.in(value)) {
			throw new EvaluationException(
					"A number has more than " + ExtremeNumbers.MAX_SCALE + " digits before or after its decimal point");
		}
		return value;
	}

	static MethodResolver results(MethodResolver resolver) {
		return (context, target, name, types) -> {
			MethodExecutor executor = resolver.resolve(context, target, name, types);
			return (executor != null)
					? (where, object, arguments) -> checked(executor.execute(where, object, arguments)) : null;
		};
	}

	static PropertyAccessor properties(PropertyAccessor accessor) {
		return new Properties(accessor);
	}

	private static TypedValue checked(TypedValue value) {
		require(value.getValue());
		return value;
	}

	private record Properties(PropertyAccessor accessor) implements PropertyAccessor {

		@Override
		public Class<?> @Nullable [] getSpecificTargetClasses() {
			return this.accessor.getSpecificTargetClasses();
		}

		@Override
		public boolean canRead(EvaluationContext context, @Nullable Object target, String name) throws AccessException {
			return this.accessor.canRead(context, target, name);
		}

		@Override
		public TypedValue read(EvaluationContext context, @Nullable Object target, String name) throws AccessException {
			return checked(this.accessor.read(context, target, name));
		}

		@Override
		public boolean canWrite(EvaluationContext context, @Nullable Object target, String name) {
			return false;
		}

		@Override
		public void write(EvaluationContext context, @Nullable Object target, String name, @Nullable Object value)
				throws AccessException {
			throw new AccessException("An expression with arithmetic must not assign values");
		}

	}

}
