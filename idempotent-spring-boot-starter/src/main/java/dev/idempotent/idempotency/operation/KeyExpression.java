package dev.idempotent.idempotency.operation;

import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import dev.idempotent.idempotency.json.CanonicalJson;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.expression.EvaluationException;
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
import org.springframework.expression.spel.support.MapAccessor;
import org.springframework.expression.spel.support.SimpleEvaluationContext;

/**
 * A SpEL expression that yields a key. It sees what is asked for as variables and reaches
 * no types, beans or constructors.
 */
public final class KeyExpression {

	/**
	 * The element in a selection or projection, such as {@code #items.![#this.id]}.
	 */
	private static final String ELEMENT = "this";

	private static final JsonMapper json = JsonMapper.shared();

	private final SpelExpression expression;

	private KeyExpression(SpelExpression expression) {
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
		SpelExpression expression = new SpelExpressionParser().parseRaw(text);
		checkReach(expression.getAST(), variables);
		if (refersToNone(expression.getAST())
				&& reads(PropertyOrFieldReference.class::isInstance, expression.getAST())) {
			throw new IllegalArgumentException("it reads a property of no variable; there are " + hashed(variables));
		}
		return new KeyExpression(expression);
	}

	/**
	 * Tells whether the expression needs a variable.
	 * @param variable its name
	 * @return whether the expression names it
	 */
	public boolean refersTo(String variable) {
		return refersTo(variable, this.expression.getAST());
	}

	/**
	 * Evaluates the expression.
	 * @param variables the variables that there are
	 * @return the canonical JSON of its value, or {@code null} if it has none
	 * @throws EvaluationException if it asks for what the variables do not have
	 * @throws JacksonException if its value cannot be written
	 */
	public @Nullable String evaluate(Map<String, ? extends @Nullable Object> variables) {
		SimpleEvaluationContext context = SimpleEvaluationContext
			.forPropertyAccessors(new MapAccessor(false), DataBindingPropertyAccessor.forReadOnlyAccess())
			.withInstanceMethods()
			.build();
		variables.forEach(context::setVariable);
		Object value = this.expression.getValue(context);
		return isNothing(value) ? null : CanonicalJson.of(json.writeValueAsBytes(value));
	}

	private static boolean isNothing(@Nullable Object value) {
		return value == null || (value instanceof CharSequence text && text.toString().isBlank());
	}

	private static void checkReach(SpelNode node, Set<String> variables) {
		if (node instanceof VariableReference variable && !variables.contains(name(variable))
				&& !name(variable).equals(ELEMENT)) {
			throw new IllegalArgumentException(
					"there is no variable #" + name(variable) + ", only " + hashed(variables));
		}
		if (node instanceof TypeReference || node instanceof BeanReference || node instanceof FunctionReference
				|| node instanceof ConstructorReference) {
			throw new IllegalArgumentException(node.toStringAST()
					+ " is out of reach: a key is made of what is asked for, that is of " + hashed(variables));
		}
		for (int i = 0; i < node.getChildCount(); i++) {
			checkReach(node.getChild(i), variables);
		}
	}

	private static boolean refersToNone(SpelNode node) {
		return !reads((part) -> part instanceof VariableReference variable && !name(variable).equals(ELEMENT), node);
	}

	private static boolean refersTo(String name, SpelNode node) {
		return reads((part) -> part instanceof VariableReference variable && name(variable).equals(name), node);
	}

	private static boolean reads(Predicate<SpelNode> what, SpelNode node) {
		return what.test(node)
				|| IntStream.range(0, node.getChildCount()).anyMatch((i) -> reads(what, node.getChild(i)));
	}

	private static String hashed(Set<String> variables) {
		return variables.stream().sorted().map("#"::concat).collect(Collectors.joining(", "));
	}

	private static String name(VariableReference variable) {
		return variable.toStringAST().substring(1);
	}

}
