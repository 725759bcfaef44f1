package dev.idempotent.idempotency.operation;

import java.time.temporal.TemporalAccessor;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;

import dev.idempotent.aop.AnnotationExpression;
import dev.idempotent.idempotency.Fingerprint;
import dev.idempotent.idempotency.canonical.CanonicalJson;
import dev.idempotent.idempotency.canonical.CanonicalValues;
import dev.idempotent.idempotency.canonical.IncomparableValueException;
import org.jspecify.annotations.Nullable;
import org.springframework.expression.EvaluationException;
import org.springframework.expression.ParseException;
import tools.jackson.core.StreamWriteFeature;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.databind.json.JsonMapper;

/**
 * A SpEL expression that yields a key. It has variables, and no access to types, beans or
 * constructors.
 */
public final class KeyExpression {

	/**
	 * The prefix of keys that are digests. No JSON begins with it.
	 */
	private static final String FORM = "form ";

	private static final Object COMPOSED = new Object();

	private static final int MAX_DEPTH = 100;

	/**
	 * Writes numbers alike in each version of Java.
	 */
	private static final JsonMapper json = JsonMapper
		.builder(JsonFactory.builder().enable(StreamWriteFeature.USE_FAST_DOUBLE_WRITER).build())
		.build();

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
	 * @return the key: canonical JSON of texts, numbers, booleans, what has a text of its
	 * own (a {@code UUID}, a date, a constant of an {@code enum} without interfaces), and
	 * lists and maps of these; a digest of the canonical form for all other values;
	 * {@code null} if the value is null or blank, or contains nothing else
	 * @throws EvaluationException if the values lack a property, or {@code +} would join
	 * null to a text
	 * @throws IncomparableValueException if its value cannot be compared with others
	 * @throws IllegalArgumentException if its value has half of a character
	 */
	public @Nullable String evaluate(Map<String, ? extends @Nullable Object> variables) {
		Object value = this.expression.evaluate(variables, this::isNothing);
		if (value instanceof String text && isCanonical(text)) {
			return text.isBlank() ? null : '"' + text + '"';
		}
		if (!this.values.hasContent(value)) {
			return null;
		}
		Object plain = plain(value, 0);
		String canonical = (plain != COMPOSED) ? CanonicalJson.of(json.writeValueAsBytes(plain)) : null;
		return (canonical != null) ? requireComplete(canonical)
				: FORM + Fingerprint.of(List.of(encode(Objects.requireNonNull(value)))).digest();
	}

	/**
	 * SpEL joins it as the text "null", or as an empty one. A text is joined as it is.
	 */
	private boolean isNothing(@Nullable Object operand) {
		return !(operand instanceof CharSequence) && !this.values.hasContent(operand);
	}

	/**
	 * Returns what JSON contains of a value, or {@link #COMPOSED} if that is not all of
	 * it: two types may have one text.
	 */
	private @Nullable Object plain(@Nullable Object value, int depth) {
		if (value == null || value instanceof String || value instanceof Boolean) {
			return value;
		}
		if (depth > MAX_DEPTH || this.values.hasForm(value)) {
			return COMPOSED;
		}
		if (value instanceof Enum<?> constant) {
			return (constant.getDeclaringClass().getInterfaces().length == 0) ? constant.name() : COMPOSED;
		}
		if (value instanceof Character || value instanceof UUID
				|| (value instanceof TemporalAccessor && isJava(value))) {
			return value.toString();
		}
		if (value instanceof Number) {
			return isJava(value) ? value : COMPOSED;
		}
		return this.values.isContainer(value) ? plainContent(value, depth) : COMPOSED;
	}

	private @Nullable Object plainContent(Object container, int depth) {
		if (container instanceof CharSequence) {
			return container.toString();
		}
		if (container instanceof Optional<?> content) {
			return plain(content.orElse(null), depth + 1);
		}
		if (container instanceof List<?> list) {
			List<@Nullable Object> plain = new ArrayList<>();
			list.forEach((element) -> plain.add(plain(element, depth + 1)));
			return plain.contains(COMPOSED) ? COMPOSED : plain;
		}
		if (container instanceof Map<?, ?> map && map.keySet().stream().allMatch(String.class::isInstance)) {
			Map<String, @Nullable Object> plain = new HashMap<>();
			map.forEach((name, element) -> plain.put((String) name, plain(element, depth + 1)));
			return plain.containsValue(COMPOSED) ? COMPOSED : plain;
		}
		return COMPOSED;
	}

	private static boolean isJava(Object value) {
		return value.getClass().getName().startsWith("java.");
	}

	private byte[] encode(Object value) {
		try {
			return this.values.encodeKey(value);
		}
		catch (IncomparableValueException ex) {
			throw new IncomparableValueException("The value of the key expression cannot be compared with others: "
					+ ex.getMessage() + ". Select a member that identifies it, such as #order.id, or declare a bean of "
					+ "type CanonicalForm for the class", ex);
		}
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
