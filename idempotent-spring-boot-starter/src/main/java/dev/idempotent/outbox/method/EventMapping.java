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
import java.util.stream.Stream;

import dev.idempotent.advice.BoundExpression;
import dev.idempotent.outbox.OutboxEvent;
import dev.idempotent.outbox.OutboxTopics;
import dev.idempotent.outbox.TransactionalOutbox;
import org.jspecify.annotations.Nullable;
import org.springframework.expression.EvaluationException;
import org.springframework.expression.ParseException;
import org.springframework.util.ObjectUtils;

/**
 * One annotation: how its events follow from a call.
 *
 * @param described names the method in messages
 * @param type the type of the events
 * @param topic where they go
 * @param forEach whether there is one for each element of the payload
 * @param payload yields the payload
 * @param key yields the key, or {@code null} if there is none
 * @param condition yields whether there is an event, or {@code null} if there always is
 */
record EventMapping(String described, String type, String topic, boolean forEach, BoundExpression payload,
		@Nullable BoundExpression key, @Nullable BoundExpression condition) {

	static final String ITEM = "item";

	static EventMapping of(String described, TransactionalOutbox annotation, List<String> names, OutboxTopics topics) {
		if (annotation.type().isBlank()) {
			throw OutboxMethod.mistake(described, "states no type", "State one, such as type = \"order.created\".",
					null);
		}
		Set<String> variables = new HashSet<>(names);
		variables.add(OutboxMethod.RESULT);
		Set<String> more = new HashSet<>(variables);
		if (annotation.forEach()) {
			more.add(ITEM);
		}
		return new EventMapping(described, annotation.type(), topic(described, annotation.topic(), topics),
				annotation.forEach(), parse(described, annotation.payload(), variables),
				annotation.key().isEmpty() ? null : parse(described, annotation.key(), more),
				annotation.condition().isEmpty() ? null : parse(described, annotation.condition(), more));
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
			Map<String, @Nullable Object> more = new HashMap<>(variables);
			more.put(ITEM, item);
			if (applies(more)) {
				events.add(event(more, item));
			}
		}
		return events;
	}

	private OutboxEvent event(Map<String, @Nullable Object> variables, @Nullable Object carried) {
		if (carried == null) {
			throw mistaken("payload", "yields null; state a condition if there is not always an event");
		}
		OutboxEvent event = OutboxEvent.of(this.type, carried).toTopic(this.topic);
		return (this.key == null) ? event : event.withKey(keyOf(value("key", this.key, variables)));
	}

	private boolean applies(Map<String, @Nullable Object> variables) {
		if (this.condition == null) {
			return true;
		}
		if (value("condition", this.condition, variables) instanceof Boolean applies) {
			return applies;
		}
		throw mistaken("condition", "yields neither true nor false");
	}

	private Collection<?> items(@Nullable Object payload) {
		if (payload instanceof Collection<?> collection) {
			return collection;
		}
		if (payload != null && payload.getClass().isArray()) {
			return Arrays.asList(ObjectUtils.toObjectArray(payload));
		}
		throw mistaken("payload", "yields no collection or array, and forEach is true");
	}

	private String keyOf(@Nullable Object value) {
		if (value instanceof CharSequence || value instanceof Number || value instanceof UUID
				|| value instanceof Enum<?>) {
			return value.toString();
		}
		throw mistaken("key", "yields no text, number, UUID or enum");
	}

	private @Nullable Object value(String attribute, BoundExpression expression,
			Map<String, @Nullable Object> variables) {
		try {
			return expression.evaluate(variables);
		}
		catch (EvaluationException ex) {
			throw new IllegalArgumentException(message(attribute, "cannot be evaluated for this call"), ex);
		}
	}

	private IllegalArgumentException mistaken(String attribute, String mistake) {
		return new IllegalArgumentException(message(attribute, mistake));
	}

	private String message(String attribute, String mistake) {
		return "The expression '%s' in a @TransactionalOutbox of %s %s".formatted(attribute, this.described, mistake);
	}

	private static String topic(String described, String stated, OutboxTopics topics) {
		try {
			return topics.resolve(stated.isEmpty() ? null : stated);
		}
		catch (IllegalArgumentException ex) {
			throw OutboxMethod.mistake(described, "has no topic to send to: " + ex.getMessage(),
					"State a topic that a publisher serves, or set idempotent.outbox.default-topic.", ex);
		}
	}

	private static BoundExpression parse(String described, String text, Set<String> variables) {
		try {
			return BoundExpression.parse(text, variables);
		}
		catch (ParseException | IllegalArgumentException ex) {
			throw OutboxMethod.mistake(described,
					"has an expression '" + text + "' that is invalid: " + ex.getMessage(),
					"Write SpEL over the parameters and #result, such as #result.id.", ex);
		}
	}

}
