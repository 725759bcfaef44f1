package dev.idempotent.idempotency.operation;

import java.time.temporal.TemporalAccessor;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;

import dev.idempotent.advice.AnnotationExpression;
import dev.idempotent.idempotency.Fingerprint;
import dev.idempotent.idempotency.canonical.CanonicalJson;
import dev.idempotent.idempotency.canonical.CanonicalValues;
import dev.idempotent.idempotency.canonical.IncomparableValueException;
import dev.idempotent.idempotency.canonical.OmittedMembers;
import org.jspecify.annotations.Nullable;
import org.springframework.expression.EvaluationException;
import org.springframework.expression.ParseException;
import tools.jackson.databind.json.JsonMapper;

/**
 * A SpEL expression that yields a key. It has variables, and no access to types, beans or
 * constructors.
 */
public final class KeyExpression {

	/**
	 * Begins the keys that are no text, number or boolean; no JSON begins with it.
	 */
	private static final String FORM = "form ";

	private static final JsonMapper json = JsonMapper.shared();

	private final AnnotationExpression expression;

	private final CanonicalValues values;

	private KeyExpression(AnnotationExpression expression, CanonicalValues values) {
		this.expression = expression;
		this.values = values;
	}

	/**
	 * Parses an expression.
	 * @param text the expression
	 * @param variables the names of its variables
	 * @param values encodes what it yields
	 * @return the expression
	 * @throws ParseException if it is malformed
	 * @throws IllegalArgumentException if it refers to an unknown variable, or to
	 * anything else than variables
	 */
	public static KeyExpression parse(String text, Set<String> variables, CanonicalValues values)
			throws ParseException {
		return new KeyExpression(AnnotationExpression.parse(text, variables), values);
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
	 * @return the key: JSON for texts, numbers, booleans and what has a text of its own
	 * (a {@code UUID}, an {@code enum} constant, a date); a digest of the canonical form
	 * for all other values; {@code null} if the value is null or blank
	 * @throws EvaluationException if the values lack a property
	 * @throws IncomparableValueException if its value cannot be compared with others
	 * @throws IllegalArgumentException if its value has half of a character
	 */
	public @Nullable String evaluate(Map<String, ? extends @Nullable Object> variables) {
		Object value = this.expression.evaluate(variables);
		String text = textIn(value);
		if (value == null || (text != null && text.isBlank())) {
			return null;
		}
		if (text != null) {
			return isCanonical(text) ? '"' + text + '"' : requireComplete(textOf(text));
		}
		if (value instanceof Boolean || (value instanceof Number && value.getClass().getName().startsWith("java."))) {
			String canonical = CanonicalJson.of(json.writeValueAsBytes(value));
			if (canonical != null) {
				return canonical;
			}
		}
		return FORM + Fingerprint.of(List.of(encode(value))).digest();
	}

	private byte[] encode(Object value) {
		try {
			return this.values.encode(Object.class, value, OmittedMembers.NONE);
		}
		catch (IncomparableValueException ex) {
			throw new IncomparableValueException("The value of the key expression cannot be compared with others: "
					+ ex.getMessage() + ". Select a member that identifies it, such as #order.id, or declare a bean of "
					+ "type CanonicalForm for the class", ex);
		}
	}

	private static @Nullable String textIn(@Nullable Object value) {
		if (value instanceof Enum<?> constant) {
			return constant.name();
		}
		return (value instanceof CharSequence || value instanceof Character || value instanceof UUID
				|| (value instanceof TemporalAccessor && value.getClass().getName().startsWith("java.time.")))
						? value.toString() : null;
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
	private static String requireComplete(String canonical) {
		int escape = canonical.indexOf('\\');
		while (escape >= 0) {
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

}
