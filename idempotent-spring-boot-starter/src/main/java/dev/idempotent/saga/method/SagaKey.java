package dev.idempotent.saga.method;

import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;

import dev.idempotent.advice.AnnotatedMethod;
import dev.idempotent.idempotency.IdempotencyContext;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.operation.KeyExpression;
import org.jspecify.annotations.Nullable;
import org.springframework.expression.EvaluationException;
import org.springframework.expression.ParseException;
import tools.jackson.core.JacksonException;

/**
 * Derives the key of a saga from its arguments, or from the key of the enclosing run.
 *
 * @param described the method, for messages
 * @param saga the name of the saga
 * @param namespace the namespace of the keys
 * @param expression the expression, or {@code null} to use the enclosing run
 */
record SagaKey(String described, String saga, String namespace, @Nullable KeyExpression expression) {

	/**
	 * Keys of a saga that come from expressions are JSON, which never begins with this.
	 */
	private static final String OF_RUN = "run ";

	/**
	 * Reads the attribute of an annotation.
	 * @throws dev.idempotent.IdempotentConfigurationException if it is invalid
	 */
	static SagaKey of(AnnotatedMethod method, String text, List<String> variables, String name, String namespace) {
		try {
			return new SagaKey(method.describe(), name, namespace,
					text.isEmpty() ? null : KeyExpression.parse(text, new HashSet<>(variables)));
		}
		catch (ParseException | IllegalArgumentException ex) {
			throw method.invalid("has the invalid key expression '" + text + "': " + ex.getMessage(),
					"Correct the SpEL expression in its attribute 'key'.", ex);
		}
	}

	/**
	 * Returns the run whose key the saga has, or {@code null} if it has one of its own.
	 * @throws IllegalStateException if it has neither
	 */
	@Nullable IdempotencyContext run() {
		if (this.expression != null) {
			return null;
		}
		IdempotencyContext run = IdempotencyContext.current();
		if (run == null) {
			throw new IllegalStateException("This call of the saga " + this.described
					+ " has no key: its @Saga has none, and the call is not part of an @Idempotent run. Set the "
					+ "argument that is the key, such as key = \"#command.id\", or call it in an @Idempotent run");
		}
		return run;
	}

	/**
	 * Derives the key of a call.
	 * @throws IllegalArgumentException if the arguments yield none
	 */
	IdempotencyKey of(@Nullable IdempotencyContext run, Map<String, @Nullable Object> arguments) {
		return key((run != null) ? OF_RUN + run.key().digest()
				: evaluate(Objects.requireNonNull(this.expression), arguments));
	}

	private String evaluate(KeyExpression given, Map<String, @Nullable Object> arguments) {
		try {
			String value = given.evaluate(arguments);
			if (value != null) {
				return value;
			}
		}
		catch (EvaluationException | JacksonException ex) {
			throw noValue(ex);
		}
		throw noValue(null);
	}

	private IdempotencyKey key(String value) {
		return IdempotencyKey.of(IdempotencyKey.Kind.SAGA, this.namespace, "", this.saga, value);
	}

	private IllegalArgumentException noValue(@Nullable Exception cause) {
		return new IllegalArgumentException("This call of the saga " + this.described
				+ " has no key: the key expression of its @Saga yields nothing for its arguments", cause);
	}

}
