package dev.idempotent.outbox.crash;

import java.time.Duration;
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
		return Integer.parseInt(header("ce_type"));
	}

	/**
	 * The time from the append to the broker.
	 */
	Duration delay() {
		return Duration.between(Instant.parse(header("ce_time")), this.published);
	}

	boolean isSame(PublishedEvent other) {
		return this.headers.equals(other.headers) && this.payload.equals(other.payload);
	}

	private String header(String name) {
		return this.headers.getOrDefault(name, "");
	}

}
