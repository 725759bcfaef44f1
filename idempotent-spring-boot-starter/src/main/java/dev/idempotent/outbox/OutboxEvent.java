package dev.idempotent.outbox;

import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;

import org.jspecify.annotations.Nullable;

/**
 * An event to append. Immutable.
 */
public final class OutboxEvent {

	private static final String RESERVED = "ce_";

	private static final String PAYLOAD = "payload";

	private final String type;

	private final @Nullable String topic;

	private final @Nullable String key;

	private final Object payload;

	private final Map<String, String> headers;

	private final boolean unordered;

	private final @Nullable Instant availableAt;

	private OutboxEvent(String type, @Nullable String topic, @Nullable String key, Object payload,
			Map<String, String> headers, boolean unordered, @Nullable Instant availableAt) {
		this.type = type;
		this.topic = topic;
		this.key = key;
		this.payload = payload;
		this.headers = headers;
		this.unordered = unordered;
		this.availableAt = availableAt;
	}

	/**
	 * Creates an event for the default topic, without a key.
	 * @param type the type, such as {@code order.created}; not blank
	 * @param payload a {@code byte[]}, which is stored as it is, or an object to write as
	 * JSON
	 * @return the event
	 * @throws IllegalArgumentException if the type is blank
	 */
	public static OutboxEvent of(String type, Object payload) {
		if (type.isBlank()) {
			throw new IllegalArgumentException(
					"The type of an event must not be blank: use a name such as order.created");
		}
		return new OutboxEvent(type, null, null, payload, Map.of(), false, null);
	}

	/**
	 * Returns an event with a topic.
	 * @param topic such as {@code redis-stream:orders}
	 * @return a new event
	 */
	public OutboxEvent toTopic(String topic) {
		return new OutboxEvent(this.type, topic, this.key, this.payload, this.headers, this.unordered,
				this.availableAt);
	}

	/**
	 * Returns an event with a key, which is the subject of the CloudEvent. Events of the
	 * same topic and key are delivered in order, unless they are {@link #unordered()}.
	 * @param key such as the id of an order
	 * @return a new event
	 */
	public OutboxEvent withKey(String key) {
		return new OutboxEvent(this.type, this.topic, key, this.payload, this.headers, this.unordered,
				this.availableAt);
	}

	/**
	 * Returns an event with a header, which is delivered in addition to the headers of
	 * CloudEvents. The header {@code content-type} describes a {@code byte[]} payload.
	 * @param name in any case; it is sent in lower case
	 * @param value the value
	 * @return a new event
	 * @throws IllegalArgumentException if the name is blank, begins with {@code ce_}, or
	 * is {@code payload}
	 */
	public OutboxEvent withHeader(String name, String value) {
		String header = name.toLowerCase(Locale.ROOT);
		if (header.isBlank() || header.startsWith(RESERVED) || header.equals(PAYLOAD)) {
			throw new IllegalArgumentException(
					"The name of an event's header must not be blank, begin with ce_ (reserved for "
							+ "CloudEvents) or be payload");
		}
		Map<String, String> more = new LinkedHashMap<>(this.headers);
		more.put(header, value);
		return new OutboxEvent(this.type, this.topic, this.key, this.payload, Map.copyOf(more), this.unordered,
				this.availableAt);
	}

	/**
	 * Returns an event whose key does not order it.
	 * @return a new event
	 */
	public OutboxEvent unordered() {
		return new OutboxEvent(this.type, this.topic, this.key, this.payload, this.headers, true, this.availableAt);
	}

	/**
	 * Returns an event that is delivered later. When the commit begins, this process
	 * computes the delay by its own clock; the delay then passes by the clock of the
	 * database. Only an event without a key, or an {@link #unordered()} one, can be
	 * delivered later.
	 * @param time when to deliver it at the earliest, at most 36,500 days from now; a
	 * time that has passed has no effect
	 * @return a new event
	 */
	public OutboxEvent availableAt(Instant time) {
		return new OutboxEvent(this.type, this.topic, this.key, this.payload, this.headers, this.unordered, time);
	}

	/**
	 * The type.
	 * @return never blank
	 */
	public String type() {
		return this.type;
	}

	/**
	 * The topic.
	 * @return {@code null} for the default topic
	 */
	public @Nullable String topic() {
		return this.topic;
	}

	/**
	 * The key.
	 * @return {@code null} if there is none
	 */
	public @Nullable String key() {
		return this.key;
	}

	/**
	 * The payload.
	 * @return the object before it is written
	 */
	public Object payload() {
		return this.payload;
	}

	/**
	 * The headers that the application has set.
	 * @return values by names in lower case
	 */
	public Map<String, String> headers() {
		return this.headers;
	}

	/**
	 * Whether the key does not order the event.
	 * @return {@code false} by default
	 */
	public boolean isUnordered() {
		return this.unordered;
	}

	/**
	 * When to deliver the event at the earliest.
	 * @return {@code null} for as soon as possible
	 */
	public @Nullable Instant availableAt() {
		return this.availableAt;
	}

	/**
	 * Without key, payload and headers, which may be confidential.
	 */
	@Override
	public String toString() {
		return (this.topic != null) ? this.type + " to " + this.topic : this.type;
	}

}
