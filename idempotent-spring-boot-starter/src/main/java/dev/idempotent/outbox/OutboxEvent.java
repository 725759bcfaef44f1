package dev.idempotent.outbox;

import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;

import org.jspecify.annotations.Nullable;

/**
 * What an application appends. Immutable: each verb gives another event.
 */
public final class OutboxEvent {

	private static final String RESERVED = "ce_";

	private static final String PAYLOAD = "payload";

	private final String type;

	private final @Nullable String topic;

	private final @Nullable String key;

	private final Object payload;

	private final Map<String, String> headers;

	private OutboxEvent(String type, @Nullable String topic, @Nullable String key, Object payload,
			Map<String, String> headers) {
		this.type = type;
		this.topic = topic;
		this.key = key;
		this.payload = payload;
		this.headers = headers;
	}

	/**
	 * Creates an event for the default topic, without a key.
	 * @param type what has happened, such as {@code order.created}; not blank
	 * @param payload what the event carries: {@code byte[]} as it is, anything else is
	 * written as JSON
	 * @return the event
	 * @throws IllegalArgumentException if the type is blank
	 */
	public static OutboxEvent of(String type, Object payload) {
		if (type.isBlank()) {
			throw new IllegalArgumentException("An event has a type, such as order.created; this one's is blank");
		}
		return new OutboxEvent(type, null, null, payload, Map.of());
	}

	/**
	 * Says where the event goes.
	 * @param topic such as {@code redis-stream:orders}
	 * @return another event
	 */
	public OutboxEvent toTopic(String topic) {
		return new OutboxEvent(this.type, topic, this.key, this.payload, this.headers);
	}

	/**
	 * Says what the event is about.
	 * @param key such as an order's id
	 * @return another event
	 */
	public OutboxEvent withKey(String key) {
		return new OutboxEvent(this.type, this.topic, key, this.payload, this.headers);
	}

	/**
	 * Adds a header, which is delivered beside those of CloudEvents, or replaces it.
	 * {@code content-type} says what a {@code byte[]} payload is.
	 * @param name in any case; it is sent in lower case
	 * @param value its value
	 * @return another event
	 * @throws IllegalArgumentException if the name is blank, begins with {@code ce_}, or
	 * is {@code payload}
	 */
	public OutboxEvent withHeader(String name, String value) {
		String header = name.toLowerCase(Locale.ROOT);
		if (header.isBlank() || header.startsWith(RESERVED) || header.equals(PAYLOAD)) {
			throw new IllegalArgumentException(
					"An event's header has a name that does not begin with ce_, which is for "
							+ "CloudEvents, and is not payload");
		}
		Map<String, String> more = new LinkedHashMap<>(this.headers);
		more.put(header, value);
		return new OutboxEvent(this.type, this.topic, this.key, this.payload, Map.copyOf(more));
	}

	/**
	 * What has happened.
	 * @return never blank
	 */
	public String type() {
		return this.type;
	}

	/**
	 * Where the event goes.
	 * @return the topic, or {@code null} for the default one
	 */
	public @Nullable String topic() {
		return this.topic;
	}

	/**
	 * What the event is about.
	 * @return the key, or {@code null} if there is none
	 */
	public @Nullable String key() {
		return this.key;
	}

	/**
	 * What the event carries.
	 * @return not yet written
	 */
	public Object payload() {
		return this.payload;
	}

	/**
	 * Headers that the application has added.
	 * @return by name in lower case
	 */
	public Map<String, String> headers() {
		return this.headers;
	}

}
