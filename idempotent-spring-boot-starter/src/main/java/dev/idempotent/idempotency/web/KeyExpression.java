package dev.idempotent.idempotency.web;

import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import dev.idempotent.idempotency.json.CanonicalJson;
import jakarta.servlet.http.HttpServletRequest;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.TokenStreamFactory;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.expression.spel.support.MapAccessor;
import org.springframework.expression.EvaluationException;
import org.springframework.expression.Expression;
import org.springframework.expression.ParseException;
import org.springframework.expression.spel.SpelNode;
import org.springframework.expression.spel.ast.BeanReference;
import org.springframework.expression.spel.ast.ConstructorReference;
import org.springframework.expression.spel.ast.FunctionReference;
import org.springframework.expression.spel.ast.PropertyOrFieldReference;
import org.springframework.expression.spel.ast.TypeReference;
import org.springframework.expression.spel.ast.VariableReference;
import org.springframework.expression.spel.standard.SpelExpression;
import org.springframework.expression.spel.standard.SpelExpressionParser;
import org.springframework.expression.spel.support.DataBindingPropertyAccessor;
import org.springframework.expression.spel.support.SimpleEvaluationContext;
import org.springframework.util.LinkedCaseInsensitiveMap;
import org.springframework.web.servlet.HandlerMapping;

/**
 * A SpEL expression that yields a request's key. It sees the request as variables and
 * reaches no types, beans or constructors.
 */
final class KeyExpression {

	private static final Set<String> VARIABLES = Set.of("headers", "query", "path", "body", "principal");

	/**
	 * The element in a selection or projection, such as {@code #body.items.![#this.id]}.
	 */
	private static final String ELEMENT = "this";

	private static final JsonMapper json = JsonMapper
		// Names whose hashes collide break the shared symbol table for later documents.
		.builder(JsonFactory.builder().disable(TokenStreamFactory.Feature.CANONICALIZE_PROPERTY_NAMES).build())
		.enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
		.build();

	private final SpelExpression expression;

	private final boolean readsBody;

	private KeyExpression(SpelExpression expression) {
		this.expression = expression;
		this.readsBody = refersTo("body", expression.getAST());
	}

	/**
	 * Parses an expression.
	 * @throws ParseException if it is malformed
	 * @throws IllegalArgumentException if it names a variable that does not exist
	 */
	static KeyExpression parse(String text) throws ParseException {
		SpelExpression expression = new SpelExpressionParser().parseRaw(text);
		checkReach(expression.getAST());
		if (VARIABLES.stream().noneMatch((name) -> refersTo(name, expression.getAST()))
				&& readsProperty(expression.getAST())) {
			throw new IllegalArgumentException("it reads a property of no variable; there are " + hashed());
		}
		return new KeyExpression(expression);
	}

	/**
	 * Evaluates the expression.
	 * @return the canonical JSON of its value, or {@code null} if it has none for this
	 * request
	 */
	@Nullable String evaluate(HttpServletRequest request, byte[] body) {
		SimpleEvaluationContext context = SimpleEvaluationContext
			.forPropertyAccessors(new MapAccessor(false), DataBindingPropertyAccessor.forReadOnlyAccess())
			.withInstanceMethods()
			.build();
		context.setVariable("headers", headers(request));
		context.setVariable("query", QueryParameters.first(request));
		context.setVariable("path", request.getAttribute(HandlerMapping.URI_TEMPLATE_VARIABLES_ATTRIBUTE));
		context.setVariable("principal", request.getUserPrincipal());
		try {
			context.setVariable("body", this.readsBody ? json.readValue(body, Object.class) : null);
			Object value = this.expression.getValue(context);
			return isNothing(value) ? null : CanonicalJson.of(json.writeValueAsBytes(value));
		}
		// Jackson lets the latter out for an exponent that fits no int.
		catch (EvaluationException | JacksonException | NumberFormatException ex) {
			return null;
		}
	}

	private static boolean isNothing(@Nullable Object value) {
		return value == null || (value instanceof CharSequence text && text.toString().isBlank());
	}

	private static Map<String, String> headers(HttpServletRequest request) {
		Map<String, String> headers = new LinkedCaseInsensitiveMap<>();
		request.getHeaderNames().asIterator().forEachRemaining((name) -> headers.put(name, request.getHeader(name)));
		return headers;
	}

	private static void checkReach(SpelNode node) {
		if (node instanceof VariableReference variable && !VARIABLES.contains(name(variable))
				&& !name(variable).equals(ELEMENT)) {
			throw new IllegalArgumentException("there is no variable #" + name(variable) + ", only " + hashed());
		}
		if (node instanceof TypeReference || node instanceof BeanReference || node instanceof FunctionReference
				|| node instanceof ConstructorReference) {
			throw new IllegalArgumentException(
					node.toStringAST() + " is out of reach: a key is made of the request, that is of " + hashed());
		}
		for (int i = 0; i < node.getChildCount(); i++) {
			checkReach(node.getChild(i));
		}
	}

	private static boolean readsProperty(SpelNode node) {
		return node instanceof PropertyOrFieldReference
				|| IntStream.range(0, node.getChildCount()).anyMatch((i) -> readsProperty(node.getChild(i)));
	}

	private static String hashed() {
		return VARIABLES.stream().sorted().map("#"::concat).collect(Collectors.joining(", "));
	}

	private static boolean refersTo(String name, SpelNode node) {
		if (node instanceof VariableReference variable && name(variable).equals(name)) {
			return true;
		}
		for (int i = 0; i < node.getChildCount(); i++) {
			if (refersTo(name, node.getChild(i))) {
				return true;
			}
		}
		return false;
	}

	private static String name(VariableReference variable) {
		return variable.toStringAST().substring(1);
	}

}
