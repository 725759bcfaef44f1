package dev.idempotent.advice;

import java.math.BigDecimal;
import java.util.Arrays;
import java.util.Collection;
import java.util.Map;

import org.jspecify.annotations.Nullable;
import org.springframework.expression.AccessException;
import org.springframework.expression.EvaluationContext;
import org.springframework.expression.EvaluationException;
import org.springframework.expression.MethodExecutor;
import org.springframework.expression.MethodResolver;
import org.springframework.expression.PropertyAccessor;
import org.springframework.expression.TypedValue;

/**
 * Rejects numbers that are short to write but expensive to calculate with:
 * {@code 1e10000000 + 1} has ten million digits.
 */
final class NumberLimits {

	static final int MAX_SCALE = 1_000;

	private NumberLimits() {
	}

	static boolean isExceededBy(@Nullable Object value) {
		if (value instanceof BigDecimal number) {
			return Math.abs((long) number.scale()) > MAX_SCALE;
		}
		if (value instanceof Map<?, ?> map) {
			return map.values().stream().anyMatch(NumberLimits::isExceededBy);
		}
		if (value instanceof Collection<?> collection) {
			return collection.stream().anyMatch(NumberLimits::isExceededBy);
		}
		return value instanceof Object[] array && Arrays.stream(array).anyMatch(NumberLimits::isExceededBy);
	}

	/**
	 * Returns the value itself.
	 * @throws EvaluationException if it is or contains a number beyond the limits
	 */
	static <T extends @Nullable Object> T require(T value) {
		if (isExceededBy(value)) {
			throw new EvaluationException(
					"A number has more than " + MAX_SCALE + " digits before or after its decimal point");
		}
		return value;
	}

	static MethodResolver checked(MethodResolver resolver) {
		return (context, target, name, types) -> {
			MethodExecutor executor = resolver.resolve(context, target, name, types);
			return (executor != null)
					? (where, object, arguments) -> checked(executor.execute(where, object, arguments)) : null;
		};
	}

	static PropertyAccessor checked(PropertyAccessor accessor) {
		return new CheckedPropertyAccessor(accessor);
	}

	private static TypedValue checked(TypedValue value) {
		require(value.getValue());
		return value;
	}

	private record CheckedPropertyAccessor(PropertyAccessor accessor) implements PropertyAccessor {

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
