package dev.idempotent.outbox.crash;

import java.time.Duration;
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
	 * Reads all events, in the order in which consumers get those of one key.
	 */
	List<PublishedEvent> read();

	@Override
	void close();

}
