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
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

import dev.idempotent.advice.AnnotatedMethod;
import dev.idempotent.advice.AnnotationExpression;
import dev.idempotent.outbox.OutboxEvent;
import dev.idempotent.outbox.TransactionalOutbox;
import org.jspecify.annotations.Nullable;
import org.springframework.expression.EvaluationException;
import org.springframework.expression.ParseException;
import org.springframework.util.ObjectUtils;

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
 * @param condition the expression that decides whether there is an event, or {@code null}
 * if there always is
 */
record EventMapping(String described, String type, String topic, boolean forEach, boolean ordered,
		AnnotationExpression payload, @Nullable AnnotationExpression key, @Nullable AnnotationExpression condition) {

	static final String RESULT = "result";

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
		Set<String> perItem = new HashSet<>(variables);
		if (annotation.forEach()) {
			perItem.add(ITEM);
		}
		return new EventMapping(method.describe(), annotation.type(), topics.apply(annotation.topic()),
				annotation.forEach(), annotation.ordered(), parse(method, annotation.payload(), variables),
				annotation.key().isEmpty() ? null : parse(method, annotation.key(), perItem),
				annotation.condition().isEmpty() ? null : parse(method, annotation.condition(), perItem));
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
		return "The expression '%s' in a @TransactionalOutbox of %s %s".formatted(attribute, this.described, problem);
	}

	private static AnnotationExpression parse(AnnotatedMethod method, String text, Set<String> variables) {
		try {
			return AnnotationExpression.parse(text, variables);
		}
		catch (ParseException | IllegalArgumentException ex) {
			throw method.invalid("has the invalid expression '" + text + "': " + ex.getMessage(),
					"Write SpEL over the parameters and #result, such as #result.id.", ex);
		}
	}

}
