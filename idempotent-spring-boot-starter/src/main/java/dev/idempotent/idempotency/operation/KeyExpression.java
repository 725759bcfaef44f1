package dev.idempotent.idempotency.operation;

import java.util.Map;
import java.util.Set;

import dev.idempotent.advice.AnnotationExpression;
import dev.idempotent.idempotency.json.CanonicalJson;
import org.jspecify.annotations.Nullable;
import org.springframework.expression.EvaluationException;
import org.springframework.expression.ParseException;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.json.JsonMapper;

/**
 * A SpEL expression that yields a key. It sees what is asked for as variables and reaches
 * no types, beans or constructors.
 */
public final class KeyExpression {

	private static final JsonMapper json = JsonMapper.shared();

	private final AnnotationExpression expression;

	private KeyExpression(AnnotationExpression expression) {
		this.expression = expression;
	}

	/**
	 * Parses an expression.
	 * @param text the expression
	 * @param variables the names of the variables that there will be
	 * @return the expression
	 * @throws ParseException if it is malformed
	 * @throws IllegalArgumentException if it names a variable that does not exist, or
	 * reaches for more than variables
	 */
	public static KeyExpression parse(String text, Set<String> variables) throws ParseException {
		return new KeyExpression(AnnotationExpression.parse(text, variables));
	}

	/**
	 * Tells whether the expression needs a variable.
	 * @param variable its name
	 * @return whether the expression names it
	 */
	public boolean refersTo(String variable) {
		return this.expression.refersTo(variable);
	}

	/**
	 * Returns the members that the expression reads of a variable that is a map.
	 * @param variable the name of the variable
	 * @return the names of the members
	 */
	public Set<String> membersOf(String variable) {
		return this.expression.membersOf(variable);
	}

	/**
	 * Evaluates the expression.
	 * @param variables the variables that there are
	 * @return the canonical JSON of its value, or {@code null} if it has none
	 * @throws EvaluationException if it asks for what the variables do not have
	 * @throws JacksonException if its value cannot be written
	 */
	public @Nullable String evaluate(Map<String, ? extends @Nullable Object> variables) {
		Object value = this.expression.evaluate(variables);
		return isNothing(value) ? null : CanonicalJson.of(json.writeValueAsBytes(value));
	}

	private static boolean isNothing(@Nullable Object value) {
		return value == null || (value instanceof CharSequence text && text.toString().isBlank());
	}

}
