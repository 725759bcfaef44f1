package dev.idempotent.outbox.method;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Future;
import java.util.function.UnaryOperator;

import dev.idempotent.advice.AnnotatedMethod;
import dev.idempotent.outbox.OutboxEvent;
import dev.idempotent.outbox.OutboxTopics;
import dev.idempotent.outbox.TransactionalOutbox;
import org.jspecify.annotations.Nullable;

/**
 * The events that follow from a call of an annotated method.
 */
final class OutboxMethod {

	private static final String PUBLISHER = "org.reactivestreams.Publisher";

	private final List<String> parameterNames;

	private final List<EventMapping> mappings;

	private OutboxMethod(List<String> parameterNames, List<EventMapping> mappings) {
		this.parameterNames = parameterNames;
		this.mappings = mappings;
	}

	/**
	 * Reads the annotations of a method.
	 * @throws dev.idempotent.IdempotentConfigurationException if one is invalid
	 */
	static OutboxMethod of(AnnotatedMethod method, List<TransactionalOutbox> annotations, OutboxTopics topics,
			UnaryOperator<String> placeholders) {
		List<String> names = method.parameterNames();
		List<EventMapping> mappings = new ArrayList<>();
		for (TransactionalOutbox annotation : annotations) {
			EventMapping mapping = EventMapping.of(method, annotation, names,
					(topic) -> topic(method, topic, annotation.type(), topics, placeholders));
			if (mapping.refersTo(EventMapping.RESULT)) {
				requireUnambiguous(method, names, EventMapping.RESULT, "the result of the method");
				requireResult(method);
			}
			if (annotation.forEach() && mapping.refersTo(EventMapping.ITEM)) {
				requireUnambiguous(method, names, EventMapping.ITEM, "an element of the payload");
			}
			mappings.add(mapping);
		}
		return new OutboxMethod(names, mappings);
	}

	/**
	 * Creates the events of a call that has returned.
	 * @throws IllegalArgumentException if an expression cannot be evaluated for the call
	 */
	List<OutboxEvent> events(@Nullable Object[] arguments, @Nullable Object result) {
		Map<String, @Nullable Object> variables = new HashMap<>();
		for (int i = 0; i < this.parameterNames.size(); i++) {
			variables.put(this.parameterNames.get(i), arguments[i]);
		}
		variables.put(EventMapping.RESULT, result);
		return this.mappings.stream().flatMap((mapping) -> mapping.events(variables).stream()).toList();
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
					"Set a topic that a publisher serves, set idempotent.outbox.default-topic, or add the library that brings "
							+ "the publisher (spring-boot-starter-data-redis for redis-stream, "
							+ "spring-boot-starter-kafka for kafka). For the topic handlers, annotate a method of a bean "
							+ "with @OutboxHandler and the same type.",
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
			throw method.invalid("has a parameter named '" + variable + "', and an expression refers to #" + variable
					+ ", which is " + meaning, "Rename the parameter.", null);
		}
	}

	private static void requireResult(AnnotatedMethod method) {
		Class<?> returned = method.method().getReturnType();
		if (returned == void.class || returned == Void.class) {
			throw method.invalid("returns nothing, and an expression refers to #result",
					"Set a payload, such as payload = \"#order\".", null);
		}
		if (isAsynchronous(returned)) {
			throw method.invalid(
					"returns a " + returned.getSimpleName() + ", whose value may be known only after its transaction",
					"Return the value itself, or refer to parameters only.", null);
		}
	}

	private static boolean isAsynchronous(Class<?> type) {
		return Set.of(CompletionStage.class, Future.class, Callable.class)
			.stream()
			.anyMatch((asynchronous) -> asynchronous.isAssignableFrom(type)) || isPublisher(type);
	}

	private static boolean isPublisher(Class<?> type) {
		return type.getName().equals(PUBLISHER)
				|| Arrays.stream(type.getInterfaces()).anyMatch(OutboxMethod::isPublisher)
				|| (type.getSuperclass() != null && isPublisher(type.getSuperclass()));
	}

}
