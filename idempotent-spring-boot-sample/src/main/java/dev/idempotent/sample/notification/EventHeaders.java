package dev.idempotent.sample.notification;

import java.util.Map;
import java.util.UUID;

import org.jspecify.annotations.Nullable;

/**
 * The headers of an event by their meaning.
 */
record EventHeaders(UUID id, String type) {

	/**
	 * Reads the headers of an entry.
	 * @throws IllegalArgumentException if the entry is no event
	 */
	static EventHeaders of(Map<String, String> headers) {
		return new EventHeaders(UUID.fromString(require(headers, "ce_id")), require(headers, "ce_type"));
	}

	private static String require(Map<String, String> headers, String name) {
		@Nullable String value = headers.get(name);
		if (value == null) {
			throw new IllegalArgumentException("An entry of the stream has no " + name + ": it is no event");
		}
		return value;
	}

}
