package dev.idempotent.outbox;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.UUID;

import org.jspecify.annotations.Nullable;

/**
 * An event as it is kept and delivered. Whoever is given one twice finds the same id.
 */
public final class SerializedEvent {

	/**
	 * The header that says what the payload is.
	 */
	public static final String CONTENT_TYPE = "content-type";

	private final UUID id;

	private final long sequence;

	private final String topic;

	private final @Nullable String key;

	private final String type;

	private final byte[] payload;

	private final Map<String, String> storedHeaders;

	private final int attempts;

	/**
	 * Creates an event.
	 * @param id names the event; the same at each delivery
	 * @param sequence its row in the store; 0 before it has one
	 * @param topic where it goes, as {@code <publisher>:<destination>}
	 * @param key what it is about, or {@code null}
	 * @param type what has happened
	 * @param payload what it carries; not copied
	 * @param storedHeaders those that do not follow from the other parts
	 * @param attempts how many attempts at its delivery have begun
	 */
	public SerializedEvent(UUID id, long sequence, String topic, @Nullable String key, String type, byte[] payload,
			Map<String, String> storedHeaders, int attempts) {
		this.id = id;
		this.sequence = sequence;
		this.topic = topic;
		this.key = key;
		this.type = type;
		this.payload = payload;
		this.storedHeaders = storedHeaders;
		this.attempts = attempts;
	}

	/**
	 * Names the event.
	 * @return the same at each delivery
	 */
	public UUID id() {
		return this.id;
	}

	/**
	 * The event's row: larger than that of any event that was appended before by a
	 * transaction that it could see.
	 * @return 0 before it has one
	 */
	public long sequence() {
		return this.sequence;
	}

	/**
	 * Where the event goes.
	 * @return {@code <publisher>:<destination>}
	 */
	public String topic() {
		return this.topic;
	}

	/**
	 * Which publisher serves the event.
	 * @return the topic's part before its first colon
	 */
	public String publisher() {
		return Topics.publisher(this.topic);
	}

	/**
	 * Where the publisher is to send the event.
	 * @return the topic's part behind its first colon
	 */
	public String destination() {
		return Topics.destination(this.topic);
	}

	/**
	 * What the event is about.
	 * @return the key, or {@code null}
	 */
	public @Nullable String key() {
		return this.key;
	}

	/**
	 * What has happened.
	 * @return such as {@code order.created}
	 */
	public String type() {
		return this.type;
	}

	/**
	 * What the event carries.
	 * @return the bytes themselves, not to be changed
	 */
	public byte[] payload() {
		return this.payload;
	}

	/**
	 * How many attempts at delivery have begun, with this one.
	 * @return at least 1 where an event is published
	 */
	public int attempts() {
		return this.attempts;
	}

	/**
	 * The headers that do not follow from the other parts.
	 * @return as given
	 */
	public Map<String, String> storedHeaders() {
		return this.storedHeaders;
	}

	/**
	 * All headers to send: the attributes of CloudEvents 1.0 as {@code ce_<name>} (as in
	 * its protocol binding for Kafka), {@code content-type}, {@code traceparent} where
	 * there was a trace, and those of the application.
	 * @return name and value, in a fixed order
	 * @see <a href=
	 * "https://github.com/cloudevents/spec/blob/v1.0.2/cloudevents/spec.md">CloudEvents
	 * 1.0.2</a>
	 */
	public Map<String, String> headers() {
		Map<String, String> headers = new LinkedHashMap<>();
		headers.put("ce_specversion", "1.0");
		headers.put("ce_id", this.id.toString());
		headers.put("ce_type", this.type);
		if (this.key != null) {
			headers.put("ce_subject", this.key);
		}
		headers.put("ce_sequence", Long.toString(this.sequence));
		headers.putAll(this.storedHeaders);
		return headers;
	}

}
