package dev.idempotent.autoconfigure.operations;

import java.util.UUID;

import dev.idempotent.outbox.DeadEvents.DeadFilter;
import dev.idempotent.outbox.OutboxStore.OrderedRow;
import org.jspecify.annotations.Nullable;

/**
 * Reads the parameters of the actuator's endpoint {@code outbox}.
 */
final class OutboxRequest {

	private static final int DEFAULT_LIMIT = 50;

	private static final int MAX_LIMIT = 500;

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
			throw new OutboxRequestException("The request does not specify which events",
					"Specify id, type or topic, or all=true for all of them");
		}
		if (everything && !filter.equals(DeadFilter.ALL)) {
			throw new OutboxRequestException("The request specifies both all events and some of them",
					"Specify either all=true, or id, type or topic");
		}
		return filter;
	}

	static DeadFilter filter(@Nullable String id, @Nullable String type, @Nullable String topic) {
		return new DeadFilter((id != null) ? id(id) : null, stated("type", type), stated("topic", topic));
	}

	static int limit(@Nullable String limit) {
		return (int) number("limit", limit, DEFAULT_LIMIT, 1, MAX_LIMIT);
	}

	static long after(@Nullable String after) {
		return number("after", after, 0, 0, Long.MAX_VALUE);
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
			throw new OutboxRequestException("The parameter 'after' is not the end of a page",
					"Specify the value of 'next' of the previous page");
		}
		return new OrderedRow(after(after.substring(0, separator)), after(after.substring(separator + 1)));
	}

	/**
	 * Reads the topic to pause or resume.
	 */
	static String topic(@Nullable String id, @Nullable String type, @Nullable String topic, @Nullable Boolean all) {
		if (topic == null || id != null || type != null || all != null) {
			throw new OutboxRequestException("The request does not specify just a topic",
					"Specify one topic, and nothing else");
		}
		return storable("topic", topic);
	}

	/**
	 * Refuses an empty value, which may be the result of an unset variable.
	 */
	private static @Nullable String stated(String name, @Nullable String value) {
		if (value != null && value.isBlank()) {
			throw new OutboxRequestException("The parameter '" + name + "' is empty", "Set it or omit it");
		}
		return (value != null) ? storable(name, value) : null;
	}

	/**
	 * Refuses what no event can have, and PostgreSQL does not compare.
	 */
	private static String storable(String name, String value) {
		if (value.indexOf('\0') >= 0) {
			throw new OutboxRequestException("The parameter '" + name + "' contains the character NUL",
					"Remove it from the value");
		}
		return value;
	}

	private static UUID id(String id) {
		try {
			return UUID.fromString(id);
		}
		catch (IllegalArgumentException ex) {
			throw new OutboxRequestException("The parameter 'id' is not a UUID",
					"Specify the id of an event as the lists of the endpoint show it");
		}
	}

	private static long number(String name, @Nullable String value, long ifMissing, long min, long max) {
		try {
			long number = (value != null) ? Long.parseLong(value) : ifMissing;
			if (number >= min && number <= max) {
				return number;
			}
		}
		catch (NumberFormatException ex) {
			// Reported below.
		}
		throw new OutboxRequestException("The parameter '" + name + "' is not a valid number",
				"Specify a number of at least " + min + ((max < Long.MAX_VALUE) ? " and at most " + max : ""));
	}

}
