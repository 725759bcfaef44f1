package dev.idempotent.idempotency.operation;

import java.util.Map;
import java.util.Objects;
import java.util.Set;

import dev.idempotent.advice.AnnotationExpression;
import dev.idempotent.idempotency.json.CanonicalJson;
import org.jspecify.annotations.Nullable;
import org.springframework.expression.EvaluationException;
import org.springframework.expression.ParseException;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.json.JsonMapper;

/**
 * A SpEL expression that yields a key. It has variables, and no access to types, beans or
 * constructors.
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
	 * @param variables the names of its variables
	 * @return the expression
	 * @throws ParseException if it is malformed
	 * @throws IllegalArgumentException if it refers to an unknown variable, or to
	 * anything else than variables
	 */
	public static KeyExpression parse(String text, Set<String> variables) throws ParseException {
		return new KeyExpression(AnnotationExpression.parse(text, variables));
	}

	/**
	 * Returns whether the expression refers to a variable.
	 * @param variable the name of the variable
	 * @return whether it does
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
	 * @param variables the values of its variables
	 * @return the canonical JSON of its value, or {@code null} if that is null or blank
	 * @throws EvaluationException if the values lack a property
	 * @throws JacksonException if its value cannot be written
	 * @throws IllegalArgumentException if its value has half of a character
	 */
	public @Nullable String evaluate(Map<String, ? extends @Nullable Object> variables) {
		Object value = this.expression.evaluate(variables);
		if (isAbsent(value)) {
			return null;
		}
		return (value instanceof String text && isCanonical(text)) ? '"' + text + '"'
				: requireComplete(CanonicalJson.of(json.writeValueAsBytes(value)));
	}

	/**
	 * Returns what an expression yields for a text.
	 * @param text the text
	 * @return its canonical JSON
	 */
	public static String textOf(String text) {
		return Objects.requireNonNull(CanonicalJson.of(json.writeValueAsBytes(text)));
	}

	/**
	 * Canonical JSON escapes unpaired surrogates only, in lower case.
	 */
	private static @Nullable String requireComplete(@Nullable String canonical) {
		int escape = (canonical != null) ? canonical.indexOf('\\') : -1;
		while (canonical != null && escape >= 0) {
			if (canonical.startsWith("ud", escape + 1) && canonical.charAt(escape + 3) >= '8') {
				throw new IllegalArgumentException("The value of the key expression contains half of a character (an "
						+ "unpaired surrogate): do not cut a text within a character");
			}
			escape = canonical.indexOf('\\', escape + 2);
		}
		return canonical;
	}

	/**
	 * Returns whether JSON escapes no character of a text.
	 */
	private static boolean isCanonical(String text) {
		for (int i = 0; i < text.length(); i++) {
			char character = text.charAt(i);
			if (character < ' ' || character > '~' || character == '"' || character == '\\') {
				return false;
			}
		}
		return true;
	}

	private static boolean isAbsent(@Nullable Object value) {
		return value == null || (value instanceof CharSequence text && text.toString().isBlank());
	}

}
