package dev.idempotent.outbox.crash;

import java.time.Instant;
import java.util.Map;

/**
 * An event as a broker has it.
 *
 * @param headers its headers
 * @param payload its payload
 * @param published when the broker got it
 */
record PublishedEvent(Map<String, String> headers, String payload, Instant published) {

	/**
	 * The id that its transaction has recorded.
	 */
	String id() {
		return this.payload.replace("\"", "");
	}

	String key() {
		return header("ce_subject");
	}

	/**
	 * The position of an ordered event within its key, or 0.
	 */
	int number() {
		return Integer.parseInt(header(Writers.NUMBER));
	}

	/**
	 * When it was appended.
	 */
	Instant appended() {
		return Instant.parse(header("ce_time"));
	}

	boolean isSame(PublishedEvent other) {
		return this.headers.equals(other.headers) && this.payload.equals(other.payload);
	}

	private String header(String name) {
		return this.headers.getOrDefault(name, "");
	}

}
