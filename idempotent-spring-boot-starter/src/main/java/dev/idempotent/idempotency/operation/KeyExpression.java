package dev.idempotent.idempotency.operation;

import java.util.Map;
import java.util.Set;

import dev.idempotent.advice.BoundExpression;
import dev.idempotent.idempotency.json.CanonicalJson;
import org.jspecify.annotations.Nullable;
import org.springframework.expression.EvaluationException;
import org.springframework.expression.ParseException;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.json.JsonMapper;

/**
 * A SpEL expression for a key. It sees the request or the arguments as variables and
 * cannot access types, beans or constructors.
 */
public final class KeyExpression {

	private static final JsonMapper json = JsonMapper.shared();

	private final BoundExpression expression;

	private KeyExpression(BoundExpression expression) {
		this.expression = expression;
	}

	/**
	 * Parses an expression.
	 * @param text the expression
	 * @param variables the names of the available variables
	 * @return the expression
	 * @throws ParseException if it is malformed
	 * @throws IllegalArgumentException if it refers to an unknown variable, or accesses
	 * more than variables
	 */
	public static KeyExpression parse(String text, Set<String> variables) throws ParseException {
		return new KeyExpression(BoundExpression.parse(text, variables));
	}

	/**
	 * Tells whether the expression refers to a variable.
	 * @param variable the name of the variable
	 * @return whether the expression refers to it
	 */
	public boolean refersTo(String variable) {
		return this.expression.refersTo(variable);
	}

	/**
	 * Evaluates the expression.
	 * @param variables the values of the variables
	 * @return the canonical JSON of its value, or {@code null} if that is {@code null} or
	 * blank
	 * @throws EvaluationException if the evaluation fails
	 * @throws JacksonException if its value cannot be serialized
	 */
	public @Nullable String evaluate(Map<String, ? extends @Nullable Object> variables) {
		Object value = this.expression.evaluate(variables);
		return isBlank(value) ? null : CanonicalJson.of(json.writeValueAsBytes(value));
	}

	private static boolean isBlank(@Nullable Object value) {
		return value == null || (value instanceof CharSequence text && text.toString().isBlank());
	}

}
