package dev.idempotent.idempotency.web;

import java.security.Principal;
import java.util.AbstractMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

import dev.idempotent.aop.AnnotationExpression;
import dev.idempotent.idempotency.CanonicalForm;
import dev.idempotent.idempotency.canonical.CanonicalValues;
import dev.idempotent.idempotency.canonical.IncomparableValueException;
import dev.idempotent.idempotency.operation.KeyExpression;
import dev.idempotent.idempotency.web.Problem.RefusedRequestException;
import jakarta.servlet.http.HttpServletRequest;
import org.jspecify.annotations.Nullable;
import org.springframework.expression.EvaluationException;
import org.springframework.expression.ParseException;
import org.springframework.util.LinkedCaseInsensitiveMap;
import org.springframework.web.servlet.HandlerMapping;
import tools.jackson.core.JacksonException;
import tools.jackson.core.TokenStreamFactory;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.json.JsonMapper;

/**
 * A SpEL expression that derives a key from a request.
 */
final class RequestKeyExpression {

	private static final Set<String> VARIABLES = Set.of("headers", "query", "path", "body", "principal");

	/**
	 * Of JSON and texts. A principal has details that differ between retries.
	 */
	private static final CanonicalValues VALUES = new CanonicalValues(
			List.of(CanonicalForm.of(Principal.class, Principal::getName)));

	private static final JsonMapper json = JsonMapper
		// Names with colliding hashes would break the shared symbol table for later
		// documents.
		.builder(JsonFactory.builder().disable(TokenStreamFactory.Feature.CANONICALIZE_PROPERTY_NAMES).build())
		.enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
		.build();

	private final KeyExpression expression;

	private final boolean readsBody;

	private final boolean readsQuery;

	private final boolean readsPath;

	private RequestKeyExpression(KeyExpression expression) {
		this.expression = expression;
		this.readsBody = expression.refersTo("body");
		this.readsQuery = expression.refersTo("query");
		this.readsPath = expression.refersTo("path");
	}

	/**
	 * Parses an expression.
	 * @throws ParseException if it is malformed
	 * @throws IllegalArgumentException if it uses an unknown variable
	 */
	static RequestKeyExpression parse(String text) throws ParseException {
		return new RequestKeyExpression(KeyExpression.parse(text, VARIABLES, VALUES));
	}

	/**
	 * Finds a URI template variable that the expression reads and that does not exist.
	 * @param known the variables of the handler's URL patterns
	 * @return the name, or {@code null} if all exist
	 */
	@Nullable String unknownPathVariable(Set<String> known) {
		return this.expression.membersOf("path")
			.stream()
			.filter((member) -> !known.contains(member))
			.findFirst()
			.orElse(null);
	}

	/**
	 * Evaluates the expression.
	 * @return the key, or {@code null} if it has no value for this request
	 * @throws RefusedRequestException if it reads a part of the request that is not UTF-8
	 * or has half of a character, or a body that contains a number of extreme scale
	 */
	@Nullable String evaluate(BufferedRequest request) {
		requireUtf8(request);
		Map<String, @Nullable Object> variables = new HashMap<>();
		variables.put("headers", new Headers(request));
		variables.put("query", this.readsQuery ? firstOfQuery(request) : null);
		variables.put("path", request.getAttribute(HandlerMapping.URI_TEMPLATE_VARIABLES_ATTRIBUTE));
		variables.put("principal", request.getUserPrincipal());
		try {
			variables.put("body", this.readsBody ? tree(request.body()) : null);
			return this.expression.evaluate(variables);
		}
		catch (EvaluationException | JacksonException ex) {
			return null;
		}
		catch (IncomparableValueException ex) {
			throw new IllegalStateException(
					"A key expression yields a value that cannot be compared with others. Select a "
							+ "text or a number of the request, such as #body.id",
					ex);
		}
		catch (IllegalArgumentException ex) {
			throw Problem.REQUEST_MALFORMED
				.refusal("This operation derives its idempotency key from a text of the request that has half of a "
						+ "character.");
		}
	}

	/**
	 * Returns the first value of each parameter, decoded.
	 * @throws RefusedRequestException if the query is not UTF-8
	 */
	private static Map<String, String> firstOfQuery(HttpServletRequest request) {
		Map<String, String> first = new HashMap<>();
		RequestUrl.query(request).forEach((name, values) -> first.put(requireUtf8(name), requireUtf8(values.get(0))));
		return first;
	}

	private static String requireUtf8(String text) {
		String decoded = RequestUrl.decode(text);
		if (decoded == null) {
			throw Problem.REQUEST_MALFORMED
				.refusal("This operation derives its idempotency key from the query, which must be UTF-8 in "
						+ "percent-encoding.");
		}
		return decoded;
	}

	/**
	 * In another charset, the handler would read other texts, and two of them could have
	 * one key.
	 */
	private void requireUtf8(BufferedRequest request) {
		String part = (this.readsBody && !request.isUtf8()) ? "body"
				: (this.readsPath && RequestUrl.decode(request.getRequestURI()) == null) ? "path" : null;
		if (part != null) {
			throw Problem.REQUEST_MALFORMED
				.refusal("This operation derives its idempotency key from the " + part + ", which must be UTF-8.");
		}
	}

	private static @Nullable Object tree(byte[] body) {
		try {
			Object tree = json.readValue(body, Object.class);
			if (!AnnotationExpression.exceedsMaxScale(tree)) {
				return tree;
			}
		}
		catch (NumberFormatException ex) {
			// Thrown by Jackson for an exponent that exceeds an int.
		}
		throw Problem.REQUEST_MALFORMED
			.refusal("This operation derives its idempotency key from the body, in which no number may have more than "
					+ AnnotationExpression.MAX_SCALE + " digits before or after its decimal point.");
	}

	/**
	 * The first value of each header, by a name in any case. Reads those that are asked
	 * for: Spring Security refuses to read a header that it does not accept, which no
	 * handler may need.
	 */
	private static final class Headers extends AbstractMap<String, @Nullable String> {

		private final HttpServletRequest request;

		Headers(HttpServletRequest request) {
			this.request = request;
		}

		@Override
		public boolean containsKey(@Nullable Object name) {
			return get(name) != null;
		}

		@Override
		public @Nullable String get(@Nullable Object name) {
			return (name instanceof String header) ? this.request.getHeader(header) : null;
		}

		@Override
		public Set<Entry<String, @Nullable String>> entrySet() {
			Map<String, @Nullable String> all = new LinkedCaseInsensitiveMap<>();
			this.request.getHeaderNames().asIterator().forEachRemaining((name) -> all.put(name, get(name)));
			return all.entrySet();
		}

	}

}
