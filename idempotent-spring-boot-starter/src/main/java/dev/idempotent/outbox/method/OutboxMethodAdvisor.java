package dev.idempotent.outbox.method;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

import dev.idempotent.aop.AnnotatedMethod;
import dev.idempotent.aop.AnnotatedMethodAdvisor;
import dev.idempotent.aop.AnnotationExpression;
import dev.idempotent.outbox.Outbox;
import dev.idempotent.outbox.OutboxEvent;
import dev.idempotent.outbox.OutboxTopics;
import dev.idempotent.outbox.TransactionalOutbox;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.core.annotation.MergedAnnotation;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;
import org.springframework.core.annotation.RepeatableContainers;
import org.springframework.expression.EvaluationException;
import org.springframework.expression.ParseException;
import org.springframework.util.ObjectUtils;
import org.springframework.util.function.SingletonSupplier;

/**
 * Appends the events of {@code @TransactionalOutbox} methods. Must be innermost: within
 * the method's transaction, and within any advice that may return without calling the
 * method.
 */
public final class OutboxMethodAdvisor extends AnnotatedMethodAdvisor<OutboxMethodAdvisor.OutboxMethod> {

	/**
	 * The first status of a response that tells the client of no success.
	 */
	private static final int FIRST_REFUSAL = 400;

	private final Supplier<Outbox> outbox;

	private final Supplier<OutboxTopics> topics;

	private final UnaryOperator<String> placeholders;

	private final Responses responses;

	/**
	 * Creates an advisor.
	 * @param outbox supplies the outbox at the first call
	 * @param topics supplies the topics when the first annotation is read
	 * @param placeholders replaces the placeholders of a topic; throws an
	 * {@link IllegalArgumentException} for an unknown one
	 * @param responses reads what methods return of HTTP responses
	 */
	public OutboxMethodAdvisor(Supplier<Outbox> outbox, Supplier<OutboxTopics> topics,
			UnaryOperator<String> placeholders, Responses responses) {
		super(TransactionalOutbox.class, Outbox.class);
		this.outbox = SingletonSupplier.of(outbox);
		this.topics = SingletonSupplier.of(topics);
		this.placeholders = placeholders;
		this.responses = responses;
	}

	@Override
	protected OutboxMethod read(AnnotatedMethod method) {
		List<TransactionalOutbox> annotations = MergedAnnotations
			.from(method.method(), SearchStrategy.TYPE_HIERARCHY, RepeatableContainers.standardRepeatables())
			.stream(TransactionalOutbox.class)
			.map(MergedAnnotation::synthesize)
			.toList();
		return OutboxMethod.of(method, annotations, this.topics.get(), this.placeholders, this.responses);
	}

	@Override
	protected @Nullable Object invoke(OutboxMethod method, MethodInvocation invocation) throws Throwable {
		Outbox outbox = this.outbox.get();
		// Fails before the work is done, not after it.
		outbox.requireTransaction();
		Object result = invocation.proceed();
		outbox.append(method.events(invocation.getArguments(), result));
		return result;
	}

	/**
	 * Reads the HTTP responses that methods return, with what the application has for it.
	 */
	public interface Responses {

		/**
		 * For applications without HTTP.
		 */
		Responses NONE = new Responses() {

			@Override
			public boolean hasStatus(AnnotatedMethod method) {
				return false;
			}

			@Override
			public boolean isEmpty(AnnotatedMethod method) {
				return false;
			}

			@Override
			public @Nullable Integer status(AnnotatedMethod method, @Nullable Object result) {
				return null;
			}

			@Override
			public @Nullable Object body(@Nullable Object result) {
				return result;
			}

		};

		/**
		 * Returns whether each call of a method has a status: it handles web requests, or
		 * returns a response.
		 * @param method the method
		 * @return whether it has one
		 */
		boolean hasStatus(AnnotatedMethod method);

		/**
		 * Returns whether a method returns a response that never has a body.
		 * @param method the method
		 * @return whether its body is declared as {@code Void}
		 */
		boolean isEmpty(AnnotatedMethod method);

		/**
		 * Returns the status of a call that has returned.
		 * @param method the method
		 * @param result what it has returned
		 * @return the status, or {@code null} if the method is not a web handler and has
		 * returned no response
		 * @throws IllegalStateException if it is known only after the call
		 */
		@Nullable Integer status(AnnotatedMethod method, @Nullable Object result);

		/**
		 * Returns the body of a response.
		 * @param result what a method has returned
		 * @return its body, or the result itself if it is not a response
		 */
		@Nullable Object body(@Nullable Object result);

	}

	/**
	 * The events that follow from a call of an annotated method.
	 */
	record OutboxMethod(AnnotatedMethod method, List<String> parameterNames, List<EventMapping> mappings,
			Responses responses) {

		/**
		 * Reads the annotations of a method.
		 * @throws dev.idempotent.IdempotentConfigurationException if one is invalid
		 */
		static OutboxMethod of(AnnotatedMethod method, List<TransactionalOutbox> annotations, OutboxTopics topics,
				UnaryOperator<String> placeholders, Responses responses) {
			requireStatusInTime(method);
			List<String> names = method.parameterNames();
			List<EventMapping> mappings = new ArrayList<>();
			for (TransactionalOutbox annotation : annotations) {
				EventMapping mapping = EventMapping.of(method, annotation, names,
						(topic) -> topic(method, topic, annotation.type(), topics, placeholders));
				if (mapping.refersTo(EventMapping.RESULT)) {
					requireUnambiguous(method, names, EventMapping.RESULT, "the result of the method");
					requireResult(method, responses);
				}
				if (mapping.refersTo(EventMapping.STATUS) && !names.contains(EventMapping.STATUS)) {
					requireStatus(method, responses);
				}
				if (annotation.forEach() && mapping.refersTo(EventMapping.ITEM)) {
					requireUnambiguous(method, names, EventMapping.ITEM, "an element of the payload");
				}
				mappings.add(mapping);
			}
			return new OutboxMethod(method, names, mappings, responses);
		}

		/**
		 * Creates the events of a call that has returned.
		 * @throws IllegalArgumentException if an expression cannot be evaluated for the
		 * call
		 * @throws IllegalStateException if the status of the response is not yet known
		 */
		List<OutboxEvent> events(@Nullable Object[] arguments, @Nullable Object result) {
			Integer status = this.responses.status(this.method, result);
			Map<String, @Nullable Object> variables = new HashMap<>();
			variables.put(EventMapping.STATUS, status);
			for (int i = 0; i < this.parameterNames.size(); i++) {
				variables.put(this.parameterNames.get(i), arguments[i]);
			}
			variables.put(EventMapping.RESULT, this.responses.body(result));
			boolean refused = status != null && status >= FIRST_REFUSAL;
			return this.mappings.stream()
				.filter((mapping) -> !refused || decidesByStatus(mapping))
				.flatMap((mapping) -> mapping.events(variables).stream())
				.toList();
		}

		private boolean decidesByStatus(EventMapping mapping) {
			return !this.parameterNames.contains(EventMapping.STATUS) && mapping.condition() != null
					&& mapping.condition().refersTo(EventMapping.STATUS);
		}

		private static String topic(AnnotatedMethod method, String stated, String type, OutboxTopics topics,
				UnaryOperator<String> placeholders) {
			@Nullable String topic = stated.isEmpty() ? null : resolve(method, stated, placeholders);
			try {
				String known = topics.resolve(topic);
				List<String> unused = topics.resolve(known, type);
				return known;
			}
			catch (IllegalArgumentException ex) {
				throw method.invalid("has no topic to send to: " + ex.getMessage(),
						"Set another topic or idempotent.outbox.default-topic, or add spring-boot-starter-data-redis (redis-stream) "
								+ "or -kafka (kafka). For the topic handlers, annotate a method of a bean with "
								+ "@OutboxHandler and the same type.",
						ex);
			}
		}

		private static String resolve(AnnotatedMethod method, String stated, UnaryOperator<String> placeholders) {
			try {
				return placeholders.apply(stated);
			}
			catch (IllegalArgumentException ex) {
				throw method.invalid("has the topic '" + stated + "', which has a placeholder without a value",
						"Set the property that it names, or add a default value, as in ${shop.topic:orders}.", ex);
			}
		}

		private static void requireUnambiguous(AnnotatedMethod method, List<String> names, String variable,
				String meaning) {
			if (names.contains(variable)) {
				throw method.invalid("has a parameter named '" + variable + "', and an expression refers to #"
						+ variable + ", which is " + meaning, "Rename the parameter.", null);
			}
		}

		private static void requireStatusInTime(AnnotatedMethod method) {
			if (method.isWebHandler() && AnnotatedMethod.respondsLater(method.method())) {
				throw method.invalid(
						"is a web handler that responds asynchronously, and the status that decides whether there is an "
								+ "event may be known only after its transaction",
						"Return the response itself, or annotate a method of a service that the handler calls.", null);
			}
		}

		private static void requireStatus(AnnotatedMethod method, Responses responses) {
			if (!responses.hasStatus(method)) {
				throw method.invalid(
						"refers to #status, and is not a web handler of Spring MVC and returns no HTTP response",
						"Use #result or a parameter in the condition, or return a ResponseEntity.", null);
			}
		}

		private static void requireResult(AnnotatedMethod method, Responses responses) {
			Class<?> returned = method.method().getReturnType();
			if (returned == void.class || returned == Void.class || responses.isEmpty(method)) {
				throw method.invalid("returns nothing, and an expression refers to #result",
						"Set a payload, such as payload = \"#order\".", null);
			}
			if (Callable.class.isAssignableFrom(returned) || method.returnsEarly()) {
				throw method.invalid(
						"returns a " + returned.getSimpleName()
								+ ", whose value may be known only after its transaction",
						"Return the value itself, or refer to parameters only.", null);
			}
		}

	}

	/**
	 * The mapping of a call to the events of one annotation.
	 *
	 * @param described the method, for messages
	 * @param type the type of the events
	 * @param topic the topic of the events
	 * @param forEach whether there is one event for each element of the payload
	 * @param ordered whether the key orders the events
	 * @param payload the expression of the payload
	 * @param key the expression of the key, or {@code null} for events without a key
	 * @param condition the expression that decides whether there is an event, or
	 * {@code null} if there always is
	 */
	private record EventMapping(String described, String type, String topic, boolean forEach, boolean ordered,
			AnnotationExpression payload, @Nullable AnnotationExpression key,
			@Nullable AnnotationExpression condition) {

		static final String RESULT = "result";

		static final String STATUS = "status";

		static final String ITEM = "item";

		static EventMapping of(AnnotatedMethod method, TransactionalOutbox annotation, List<String> parameterNames,
				UnaryOperator<String> topics) {
			if (annotation.type().isBlank()) {
				throw method.invalid("has no type", "Set one, such as type = \"order.created\".", null);
			}
			if (!annotation.ordered() && annotation.key().isEmpty()) {
				throw method.invalid("has ordered = false without a key", "Remove it: only a key orders events.", null);
			}
			Set<String> variables = new HashSet<>(parameterNames);
			variables.add(RESULT);
			Set<String> inConditions = new HashSet<>(variables);
			inConditions.add(STATUS);
			Set<String> perItem = new HashSet<>(variables);
			if (annotation.forEach()) {
				perItem.add(ITEM);
				inConditions.add(ITEM);
			}
			return new EventMapping(method.describe(), annotation.type(), topics.apply(annotation.topic()),
					annotation.forEach(), annotation.ordered(), parse(method, annotation.payload(), variables),
					annotation.key().isEmpty() ? null : parse(method, annotation.key(), perItem),
					annotation.condition().isEmpty() ? null : parse(method, annotation.condition(), inConditions));
		}

		boolean refersTo(String variable) {
			return Stream.of(this.payload, this.key, this.condition)
				.anyMatch((expression) -> expression != null && expression.refersTo(variable));
		}

		List<OutboxEvent> events(Map<String, @Nullable Object> variables) {
			if (!this.forEach) {
				return applies(variables) ? List.of(event(variables, value("payload", this.payload, variables)))
						: List.of();
			}
			if (this.condition != null && !this.condition.refersTo(ITEM) && !applies(variables)) {
				return List.of();
			}
			List<OutboxEvent> events = new ArrayList<>();
			for (Object item : items(value("payload", this.payload, variables))) {
				Map<String, @Nullable Object> withItem = new HashMap<>(variables);
				withItem.put(ITEM, item);
				if (applies(withItem)) {
					events.add(event(withItem, item));
				}
			}
			return events;
		}

		private OutboxEvent event(Map<String, @Nullable Object> variables, @Nullable Object payload) {
			if (payload == null) {
				throw invalidValue("payload", "yields null; set a condition if a call may have no event");
			}
			OutboxEvent event = OutboxEvent.of(this.type, payload).toTopic(this.topic);
			if (this.key == null) {
				return event;
			}
			OutboxEvent withKey = event.withKey(keyOf(value("key", this.key, variables)));
			return this.ordered ? withKey : withKey.unordered();
		}

		private boolean applies(Map<String, @Nullable Object> variables) {
			if (this.condition == null) {
				return true;
			}
			if (value("condition", this.condition, variables) instanceof Boolean applies) {
				return applies;
			}
			throw invalidValue("condition", "must yield true or false");
		}

		private Collection<?> items(@Nullable Object payload) {
			if (payload instanceof Collection<?> collection) {
				return collection;
			}
			if (payload != null && payload.getClass().isArray()) {
				return Arrays.asList(ObjectUtils.toObjectArray(payload));
			}
			throw invalidValue("payload", "must yield a collection or an array, because forEach is true");
		}

		private String keyOf(@Nullable Object value) {
			if (value instanceof CharSequence || value instanceof Number || value instanceof UUID
					|| value instanceof Enum<?>) {
				return value.toString();
			}
			throw invalidValue("key", "must yield a string, number, UUID or enum");
		}

		private @Nullable Object value(String attribute, AnnotationExpression expression,
				Map<String, @Nullable Object> variables) {
			try {
				return expression.evaluate(variables);
			}
			catch (EvaluationException ex) {
				throw new IllegalArgumentException(message(attribute, "cannot be evaluated for this call"), ex);
			}
		}

		private IllegalArgumentException invalidValue(String attribute, String problem) {
			return new IllegalArgumentException(message(attribute, problem));
		}

		private String message(String attribute, String problem) {
			return "The expression '%s' in a @TransactionalOutbox of %s %s".formatted(attribute, this.described,
					problem);
		}

		private static AnnotationExpression parse(AnnotatedMethod method, String text, Set<String> variables) {
			try {
				return AnnotationExpression.parse(text, variables);
			}
			catch (ParseException | IllegalArgumentException ex) {
				throw method.invalid("has the invalid expression '" + text + "': " + ex.getMessage(),
						"Write SpEL over the parameters and #result, such as #result.id; a condition of a web handler can use "
								+ "#status, too.",
						ex);
			}
		}

	}

}
