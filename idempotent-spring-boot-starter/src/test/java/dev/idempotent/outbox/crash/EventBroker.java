package dev.idempotent.outbox.crash;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;

/**
 * A broker that can be crashed.
 */
interface EventBroker extends AutoCloseable {

	/**
	 * The topic of all events.
	 */
	String topic();

	/**
	 * The lease of events, of which a publisher's timeouts may be parts.
	 */
	Duration lease();

	/**
	 * What tells an instance where the broker is, as {@code name=value}.
	 */
	List<String> properties();

	/**
	 * The faults besides crashes, by name.
	 */
	Map<String, Runnable> faults();

	/**
	 * Ends it at once. It keeps what it has confirmed.
	 */
	void kill();

	void start();

	/**
	 * Ends all faults.
	 */
	void resume();

	/**
	 * Reads all events, in the order in which consumers get the events of one key.
	 */
	List<PublishedEvent> read();

	@Override
	void close();

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

}
