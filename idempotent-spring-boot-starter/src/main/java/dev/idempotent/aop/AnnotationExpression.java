package dev.idempotent.aop;

import java.math.BigDecimal;
import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import org.jspecify.annotations.Nullable;
import org.springframework.expression.AccessException;
import org.springframework.expression.EvaluationContext;
import org.springframework.expression.EvaluationException;
import org.springframework.expression.MethodExecutor;
import org.springframework.expression.MethodResolver;
import org.springframework.expression.ParseException;
import org.springframework.expression.PropertyAccessor;
import org.springframework.expression.TypedValue;
import org.springframework.expression.spel.ExpressionState;
import org.springframework.expression.spel.SpelNode;
import org.springframework.expression.spel.ast.BeanReference;
import org.springframework.expression.spel.ast.CompoundExpression;
import org.springframework.expression.spel.ast.ConstructorReference;
import org.springframework.expression.spel.ast.Elvis;
import org.springframework.expression.spel.ast.FunctionReference;
import org.springframework.expression.spel.ast.Indexer;
import org.springframework.expression.spel.ast.InlineList;
import org.springframework.expression.spel.ast.InlineMap;
import org.springframework.expression.spel.ast.OpDivide;
import org.springframework.expression.spel.ast.OpMinus;
import org.springframework.expression.spel.ast.OpModulus;
import org.springframework.expression.spel.ast.OpMultiply;
import org.springframework.expression.spel.ast.OpPlus;
import org.springframework.expression.spel.ast.OperatorPower;
import org.springframework.expression.spel.ast.PropertyOrFieldReference;
import org.springframework.expression.spel.ast.StringLiteral;
import org.springframework.expression.spel.ast.Ternary;
import org.springframework.expression.spel.ast.TypeReference;
import org.springframework.expression.spel.ast.VariableReference;
import org.springframework.expression.spel.standard.SpelExpression;
import org.springframework.expression.spel.standard.SpelExpressionParser;
import org.springframework.expression.spel.support.DataBindingMethodResolver;
import org.springframework.expression.spel.support.DataBindingPropertyAccessor;
import org.springframework.expression.spel.support.MapAccessor;
import org.springframework.expression.spel.support.SimpleEvaluationContext;

/**
 * A SpEL expression in an attribute of an annotation. It has variables, and no access to
 * types, beans or constructors.
 */
public final class AnnotationExpression {

	/**
	 * The largest scale of a decimal number, positive or negative, that an expression
	 * calculates with: {@code 1e1001} is beyond it, while every {@code double} is within.
	 * Numbers beyond are short to write but expensive to calculate with:
	 * {@code 1e10000000 + 1} has ten million digits.
	 */
	public static final int MAX_SCALE = 1_000;

	/**
	 * The element in a selection or projection, such as {@code #items.![#this.id]}.
	 */
	private static final String ELEMENT = "this";

	private final SpelExpression expression;

	private final boolean calculates;

	private final boolean joins;

	/**
	 * Remember how they have read a property of a class.
	 */
	private final PropertyAccessor[] accessors;

	private final MethodResolver[] methods;

	private AnnotationExpression(SpelExpression expression) {
		this.expression = expression;
		this.calculates = contains(AnnotationExpression::isArithmetic, expression.getAST());
		this.joins = contains(OpPlus.class::isInstance, expression.getAST());
		PropertyAccessor members = new MapAccessor(false);
		PropertyAccessor properties = DataBindingPropertyAccessor.forReadOnlyAccess();
		MethodResolver resolver = DataBindingMethodResolver.forInstanceMethodInvocation();
		this.accessors = this.calculates ? new PropertyAccessor[] { limited(members), limited(properties) }
				: new PropertyAccessor[] { members, properties };
		this.methods = new MethodResolver[] { this.calculates ? limited(resolver) : resolver };
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
	public static AnnotationExpression parse(String text, Set<String> variables) throws ParseException {
		SpelExpression expression = new SpelExpressionParser().parseRaw(text);
		checkReferences(expression.getAST(), variables);
		if (refersToNoVariable(expression.getAST())
				&& contains(PropertyOrFieldReference.class::isInstance, expression.getAST())) {
			throw new IllegalArgumentException(
					"it reads a property without a variable; the variables are " + hashed(variables));
		}
		return new AnnotationExpression(expression);
	}

	/**
	 * Returns whether the expression refers to a variable.
	 * @param variable the name of the variable
	 * @return whether it does
	 */
	public boolean refersTo(String variable) {
		return refersTo(variable, this.expression.getAST());
	}

	/**
	 * Evaluates the expression.
	 * @param variables the values of its variables
	 * @return its value
	 * @throws EvaluationException if the values lack a property, or if it would calculate
	 * with a number beyond {@link #MAX_SCALE}
	 */
	public @Nullable Object evaluate(Map<String, ? extends @Nullable Object> variables) {
		return this.expression.getValue(context(variables));
	}

	/**
	 * Evaluates the expression, and requires that no operand of its {@code +} is empty:
	 * SpEL turns {@code null} into the text "null". The operands are evaluated once more,
	 * except in arguments of methods, selections and projections, which are not checked.
	 * @param variables the values of its variables
	 * @param nothing whether a value is nothing
	 * @return its value
	 * @throws EvaluationException as {@link #evaluate(Map)} does, or if an operand is
	 * nothing
	 */
	public @Nullable Object evaluate(Map<String, ? extends @Nullable Object> variables,
			Predicate<@Nullable Object> nothing) {
		EvaluationContext context = context(variables);
		Object value = this.expression.getValue(context);
		if (this.joins) {
			requireOperands(this.expression.getAST(), new ExpressionState(context), nothing);
		}
		return value;
	}

	private static void requireOperands(SpelNode node, ExpressionState state, Predicate<@Nullable Object> nothing) {
		if (node instanceof Ternary) {
			boolean first = Boolean.TRUE.equals(node.getChild(0).getValue(state));
			requireOperands(node.getChild(first ? 1 : 2), state, nothing);
		}
		else if (node instanceof Elvis) {
			Object first = node.getChild(0).getValue(state);
			requireOperands(node.getChild((nothing.test(first) || "".equals(first)) ? 1 : 0), state, nothing);
		}
		else if (node instanceof OpPlus || node instanceof InlineList || node instanceof InlineMap) {
			for (int i = 0; i < node.getChildCount(); i++) {
				SpelNode operand = node.getChild(i);
				requireOperands(operand, state, nothing);
				if (node instanceof OpPlus && !(operand instanceof OpPlus) && nothing.test(operand.getValue(state))) {
					throw new EvaluationException(
							"An operand of + is null or empty, so that calls that lack it could have one key. Join "
									+ "what is never null, name another text for it (#id ?: 'none'), or use a list "
									+ "({#tenant, #id}), in which null is an element");
				}
			}
		}
	}

	/**
	 * Returns the members that the expression reads of a variable that is a map, by name
	 * ({@code #path.id}) or by index ({@code #path['id']}, {@code #path[id]}).
	 * @param variable the name of the variable
	 * @return the names of the members
	 */
	public Set<String> membersOf(String variable) {
		Set<String> members = new LinkedHashSet<>();
		collectMembers(variable, this.expression.getAST(), members);
		return members;
	}

	/**
	 * Returns whether a value is, or contains, a number that no expression may calculate
	 * with.
	 * @param value a number, or maps, collections and arrays of them
	 * @return whether the scale of a number is beyond {@link #MAX_SCALE}
	 */
	public static boolean exceedsMaxScale(@Nullable Object value) {
		if (value instanceof BigDecimal number) {
			return Math.abs((long) number.scale()) > MAX_SCALE;
		}
		if (value instanceof Map<?, ?> map) {
			return map.values().stream().anyMatch(AnnotationExpression::exceedsMaxScale);
		}
		if (value instanceof Collection<?> collection) {
			return collection.stream().anyMatch(AnnotationExpression::exceedsMaxScale);
		}
		return value instanceof Object[] array && Arrays.stream(array).anyMatch(AnnotationExpression::exceedsMaxScale);
	}

	private static <T extends @Nullable Object> T requireLimited(T value) {
		if (exceedsMaxScale(value)) {
			throw new EvaluationException(
					"A number has more than " + MAX_SCALE + " digits before or after its decimal point");
		}
		return value;
	}

	private static TypedValue requireLimited(TypedValue value) {
		requireLimited(value.getValue());
		return value;
	}

	private static MethodResolver limited(MethodResolver resolver) {
		return (context, target, name, types) -> {
			MethodExecutor executor = resolver.resolve(context, target, name, types);
			return (executor != null)
					? (where, object, arguments) -> requireLimited(executor.execute(where, object, arguments)) : null;
		};
	}

	private static PropertyAccessor limited(PropertyAccessor accessor) {
		return new PropertyAccessor() {

			@Override
			public Class<?> @Nullable [] getSpecificTargetClasses() {
				return accessor.getSpecificTargetClasses();
			}

			@Override
			public boolean canRead(EvaluationContext context, @Nullable Object target, String name)
					throws AccessException {
				return accessor.canRead(context, target, name);
			}

			@Override
			public TypedValue read(EvaluationContext context, @Nullable Object target, String name)
					throws AccessException {
				return requireLimited(accessor.read(context, target, name));
			}

			@Override
			public boolean canWrite(EvaluationContext context, @Nullable Object target, String name) {
				return false;
			}

			@Override
			public void write(EvaluationContext context, @Nullable Object target, String name, @Nullable Object value)
					throws AccessException {
				throw new AccessException("An expression with arithmetic must not assign values");
			}

		};
	}

	private EvaluationContext context(Map<String, ? extends @Nullable Object> variables) {
		SimpleEvaluationContext context = SimpleEvaluationContext.forPropertyAccessors(this.accessors)
			.withMethodResolvers(this.methods)
			.build();
		variables.forEach((name, value) -> context.setVariable(name, this.calculates ? requireLimited(value) : value));
		return context;
	}

	private static boolean isArithmetic(SpelNode node) {
		return node instanceof OpPlus || node instanceof OpMinus || node instanceof OpMultiply
				|| node instanceof OpDivide || node instanceof OpModulus || node instanceof OperatorPower;
	}

	private static void checkReferences(SpelNode node, Set<String> variables) {
		if (node instanceof VariableReference variable && !variables.contains(name(variable))
				&& !name(variable).equals(ELEMENT)) {
			throw new IllegalArgumentException(
					"there is no variable #" + name(variable) + ", only " + hashed(variables));
		}
		if (node instanceof TypeReference || node instanceof BeanReference || node instanceof FunctionReference
				|| node instanceof ConstructorReference) {
			throw new IllegalArgumentException(
					node.toStringAST() + " is not allowed, only the variables " + hashed(variables));
		}
		for (int i = 0; i < node.getChildCount(); i++) {
			checkReferences(node.getChild(i), variables);
		}
	}

	private static void collectMembers(String variable, SpelNode node, Set<String> members) {
		for (int i = 0; i < node.getChildCount(); i++) {
			SpelNode child = node.getChild(i);
			if (i > 0 && node instanceof CompoundExpression
					&& node.getChild(i - 1) instanceof VariableReference reference
					&& name(reference).equals(variable)) {
				String member = memberIn(child);
				if (member != null) {
					members.add(member);
				}
			}
			collectMembers(variable, child, members);
		}
	}

	private static @Nullable String memberIn(SpelNode node) {
		if (node instanceof PropertyOrFieldReference property) {
			return property.getName();
		}
		if (!(node instanceof Indexer)) {
			return null;
		}
		SpelNode index = node.getChild(0);
		return (index instanceof StringLiteral literal) ? (String) literal.getLiteralValue().getValue()
				: (index instanceof PropertyOrFieldReference key) ? key.getName() : null;
	}

	private static boolean refersToNoVariable(SpelNode node) {
		return !contains((part) -> part instanceof VariableReference variable && !name(variable).equals(ELEMENT), node);
	}

	private static boolean refersTo(String name, SpelNode node) {
		return contains((part) -> part instanceof VariableReference variable && name(variable).equals(name), node);
	}

	private static boolean contains(Predicate<SpelNode> condition, SpelNode node) {
		return condition.test(node)
				|| IntStream.range(0, node.getChildCount()).anyMatch((i) -> contains(condition, node.getChild(i)));
	}

	private static String hashed(Set<String> variables) {
		return variables.stream().sorted().map("#"::concat).collect(Collectors.joining(", "));
	}

	private static String name(VariableReference variable) {
		return variable.toStringAST().substring(1);
	}

}
