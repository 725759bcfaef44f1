package dev.idempotent.advice;

import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import org.jspecify.annotations.Nullable;
import org.springframework.expression.EvaluationException;
import org.springframework.expression.MethodResolver;
import org.springframework.expression.ParseException;
import org.springframework.expression.PropertyAccessor;
import org.springframework.expression.spel.SpelNode;
import org.springframework.expression.spel.ast.BeanReference;
import org.springframework.expression.spel.ast.ConstructorReference;
import org.springframework.expression.spel.ast.FunctionReference;
import org.springframework.expression.spel.ast.OpDivide;
import org.springframework.expression.spel.ast.OpMinus;
import org.springframework.expression.spel.ast.OpModulus;
import org.springframework.expression.spel.ast.OpMultiply;
import org.springframework.expression.spel.ast.OpPlus;
import org.springframework.expression.spel.ast.OperatorPower;
import org.springframework.expression.spel.ast.PropertyOrFieldReference;
import org.springframework.expression.spel.ast.TypeReference;
import org.springframework.expression.spel.ast.VariableReference;
import org.springframework.expression.spel.standard.SpelExpression;
import org.springframework.expression.spel.standard.SpelExpressionParser;
import org.springframework.expression.spel.support.DataBindingMethodResolver;
import org.springframework.expression.spel.support.DataBindingPropertyAccessor;
import org.springframework.expression.spel.support.MapAccessor;
import org.springframework.expression.spel.support.SimpleEvaluationContext;

/**
 * A SpEL expression of an annotation. It sees variables and reaches no types, beans or
 * constructors.
 */
public final class BoundExpression {

	/**
	 * The element in a selection or projection, such as {@code #items.![#this.id]}.
	 */
	private static final String ELEMENT = "this";

	private final SpelExpression expression;

	private final boolean reckons;

	private BoundExpression(SpelExpression expression) {
		this.expression = expression;
		this.reckons = reads(BoundExpression::isArithmetic, expression.getAST());
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
	public static BoundExpression parse(String text, Set<String> variables) throws ParseException {
		SpelExpression expression = new SpelExpressionParser().parseRaw(text);
		checkReach(expression.getAST(), variables);
		if (refersToNone(expression.getAST())
				&& reads(PropertyOrFieldReference.class::isInstance, expression.getAST())) {
			throw new IllegalArgumentException("it reads a property of no variable; there are " + hashed(variables));
		}
		return new BoundExpression(expression);
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
	 * @return its value
	 * @throws EvaluationException if it asks for what the variables do not have, or would
	 * reckon with {@link ExtremeNumbers}
	 */
	public @Nullable Object evaluate(Map<String, ? extends @Nullable Object> variables) {
		SimpleEvaluationContext context = context();
		variables
			.forEach((name, value) -> context.setVariable(name, this.reckons ? BoundedNumbers.require(value) : value));
		return this.expression.getValue(context);
	}

	private SimpleEvaluationContext context() {
		PropertyAccessor members = new MapAccessor(false);
		PropertyAccessor properties = DataBindingPropertyAccessor.forReadOnlyAccess();
		if (!this.reckons) {
			return SimpleEvaluationContext.forPropertyAccessors(members, properties).withInstanceMethods().build();
		}
		MethodResolver methods = DataBindingMethodResolver.forInstanceMethodInvocation();
		return SimpleEvaluationContext
			.forPropertyAccessors(BoundedNumbers.properties(members), BoundedNumbers.properties(properties))
			.withMethodResolvers(BoundedNumbers.results(methods))
			.build();
	}

	private static boolean isArithmetic(SpelNode node) {
		return node instanceof OpPlus || node instanceof OpMinus || node instanceof OpMultiply
				|| node instanceof OpDivide || node instanceof OpModulus || node instanceof OperatorPower;
	}

	private static void checkReach(SpelNode node, Set<String> variables) {
		if (node instanceof VariableReference variable && !variables.contains(name(variable))
				&& !name(variable).equals(ELEMENT)) {
			throw new IllegalArgumentException(
					"there is no variable #" + name(variable) + ", only " + hashed(variables));
		}
		if (node instanceof TypeReference || node instanceof BeanReference || node instanceof FunctionReference
				|| node instanceof ConstructorReference) {
			throw new IllegalArgumentException(
					node.toStringAST() + " is out of reach: there is only " + hashed(variables));
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
