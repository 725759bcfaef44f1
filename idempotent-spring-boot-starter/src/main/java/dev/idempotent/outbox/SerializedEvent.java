package dev.idempotent.outbox;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.UUID;

import org.jspecify.annotations.Nullable;

/**
 * An event as it is stored and delivered. Its id is the same at each delivery.
 */
public final class SerializedEvent {

	/**
	 * The header with the media type of the payload.
	 */
	public static final String CONTENT_TYPE = "content-type";

	/**
	 * The digits of the largest row.
	 */
	private static final int SEQUENCE_DIGITS = 19;

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
	 * @param id the id
	 * @param sequence the row in the store; 0 before it has one
	 * @param topic the topic, as {@code <publisher>:<destination>}
	 * @param key the key, or {@code null}
	 * @param type the type
	 * @param payload the payload; not copied
	 * @param storedHeaders the headers that are not derived from the other parameters
	 * @param attempts how many attempts at delivery have begun
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
	 * The id of the event.
	 * @return the same at each delivery
	 */
	public UUID id() {
		return this.id;
	}

	/**
	 * The row of the event. It is larger than the rows of all events whose transactions
	 * had committed before this event was appended.
	 * @return 0 before it has one
	 */
	public long sequence() {
		return this.sequence;
	}

	/**
	 * The topic.
	 * @return {@code <publisher>:<destination>}
	 */
	public String topic() {
		return this.topic;
	}

	/**
	 * The prefix of the publisher.
	 * @return the part of the topic before its first colon
	 */
	public String publisher() {
		return publisherOf(this.topic);
	}

	/**
	 * The destination within the broker.
	 * @return the part of the topic after its first colon
	 */
	public String destination() {
		return destinationOf(this.topic);
	}

	/**
	 * The key, the subject of the event.
	 * @return {@code null} if there is none
	 */
	public @Nullable String key() {
		return this.key;
	}

	/**
	 * The type.
	 * @return such as {@code order.created}
	 */
	public String type() {
		return this.type;
	}

	/**
	 * The payload.
	 * @return the array itself, which must not be changed
	 */
	public byte[] payload() {
		return this.payload;
	}

	/**
	 * How many attempts at delivery have begun, including this one.
	 * @return at least 1 where an event is published
	 */
	public int attempts() {
		return this.attempts;
	}

	/**
	 * The headers that are not derived from the other properties.
	 * @return the headers as given
	 */
	public Map<String, String> storedHeaders() {
		return this.storedHeaders;
	}

	/**
	 * All headers to send: the attributes of CloudEvents 1.0 as {@code ce_<name>} (as in
	 * its protocol binding for Kafka), {@code content-type}, {@code traceparent} where
	 * there was a trace, and the headers of the application.
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
		// CloudEvents does not allow an empty subject.
		if (this.key != null && !this.key.isEmpty()) {
			headers.put("ce_subject", this.key);
			headers.put("ce_partitionkey", this.key);
		}
		headers.put("ce_sequence", orderedAsText(this.sequence));
		headers.putAll(this.storedHeaders);
		return headers;
	}

	/**
	 * The sequence extension of CloudEvents requires that sequences are ordered as text.
	 */
	private static String orderedAsText(long sequence) {
		String digits = Long.toString(Math.max(0, sequence));
		return "0".repeat(SEQUENCE_DIGITS - digits.length()) + digits;
	}

	static String publisherOf(String topic) {
		return topic.substring(0, Math.max(0, topic.indexOf(':')));
	}

	static String destinationOf(String topic) {
		return topic.substring(topic.indexOf(':') + 1);
	}

}
