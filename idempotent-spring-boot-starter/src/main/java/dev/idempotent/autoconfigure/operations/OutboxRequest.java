package dev.idempotent.autoconfigure.operations;

import java.util.Objects;
import java.util.UUID;

import dev.idempotent.outbox.DeadEvents.DeadFilter;
import dev.idempotent.outbox.OutboxStore.OrderedRow;
import org.jspecify.annotations.Nullable;

/**
 * Reads the parameters of the actuator's endpoint {@code outbox}.
 */
final class OutboxRequest {

	private OutboxRequest() {
	}

	/**
	 * Reads which events to change. All dead events are changed only if the request has
	 * {@code all=true}.
	 */
	static DeadFilter filter(@Nullable String id, @Nullable String type, @Nullable String topic,
			@Nullable Boolean all) {
		DeadFilter filter = filter(id, type, topic);
		boolean everything = Boolean.TRUE.equals(all);
		if (!everything && filter.equals(DeadFilter.ALL)) {
			throw RefusedOperationException.invalid("The request does not specify which events",
					"Specify id, type or topic, or all=true for all of them");
		}
		if (everything && !filter.equals(DeadFilter.ALL)) {
			throw RefusedOperationException.invalid("The request specifies both all events and some of them",
					"Specify either all=true, or id, type or topic");
		}
		return filter;
	}

	static DeadFilter filter(@Nullable String id, @Nullable String type, @Nullable String topic) {
		return new DeadFilter((id != null) ? id(id) : null, OperatorParameters.stated("type", type),
				OperatorParameters.stated("topic", topic));
	}

	static long after(@Nullable String after) {
		return OperatorParameters.number("after", after, 0, 0, Long.MAX_VALUE);
	}

	/**
	 * Reads where a page of a list begins.
	 * @param ordered whether the list has the order of keys
	 */
	static @Nullable OrderedRow position(@Nullable String after, boolean ordered) {
		if (after == null) {
			return null;
		}
		if (!ordered) {
			return new OrderedRow(0, after(after));
		}
		int separator = after.indexOf('-');
		if (separator < 0) {
			throw RefusedOperationException.invalid("The parameter 'after' is not the end of a page",
					"Specify the value of 'next' of the previous page");
		}
		return new OrderedRow(after(after.substring(0, separator)), after(after.substring(separator + 1)));
	}

	/**
	 * Reads the topic to pause or resume.
	 */
	static String topic(@Nullable String id, @Nullable String type, @Nullable String topic, @Nullable Boolean all) {
		if (topic == null || id != null || type != null || all != null) {
			throw RefusedOperationException.invalid("The request does not specify just a topic",
					"Specify one topic, and nothing else");
		}
		return Objects.requireNonNull(OperatorParameters.stated("topic", topic));
	}

	private static UUID id(String id) {
		try {
			return UUID.fromString(id);
		}
		catch (IllegalArgumentException ex) {
			throw RefusedOperationException.invalid("The parameter 'id' is not a UUID",
					"Specify the id of an event as the lists of the endpoint show it");
		}
	}

}
