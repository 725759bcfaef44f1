package dev.idempotent.outbox.relay;

import java.time.Duration;
import java.util.Set;
import java.util.stream.Collectors;

import dev.idempotent.outbox.TopicControl;
import dev.idempotent.outbox.TopicControl.PausedTopic;
import dev.idempotent.work.OutageLog;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The paused topics as they were read last. If they cannot be read, the last known ones
 * stay paused.
 */
final class PausedTopics {

	private static final Logger logger = LoggerFactory.getLogger(PausedTopics.class);

	private final TopicControl control;

	private final Runnable onResume;

	private final OutageLog outage = new OutageLog(logger,
			"The paused topics of the outbox cannot be read; the last known ones stay paused",
			"The paused topics of the outbox can be read again");

	private volatile Set<String> topics = Set.of();

	private volatile boolean known;

	private long lastRead;

	/**
	 * Creates paused topics that are not known yet.
	 * @param onResume called when a topic is no longer paused
	 */
	PausedTopics(TopicControl control, Runnable onResume) {
		this.control = control;
		this.onResume = onResume;
	}

	/**
	 * Whether the paused topics have been read. Until then, nothing may be published.
	 */
	boolean isKnown() {
		return this.known;
	}

	Set<String> topics() {
		return this.topics;
	}

	boolean contains(String topic) {
		return this.topics.contains(topic);
	}

	/**
	 * Reads the paused topics unless this was done less than a time ago.
	 */
	synchronized void refresh(Duration age) {
		if (!this.known || System.nanoTime() - this.lastRead >= age.toNanos()) {
			read();
		}
	}

	/**
	 * Reads the paused topics.
	 */
	synchronized void read() {
		long start = System.nanoTime();
		try {
			apply(this.control.paused().stream().map(PausedTopic::topic).collect(Collectors.toUnmodifiableSet()));
			this.outage.succeeded(start);
		}
		catch (RuntimeException ex) {
			this.outage.failed(start, ex);
		}
		this.lastRead = System.nanoTime();
	}

	private void apply(Set<String> read) {
		Set<String> before = this.topics;
		this.topics = read;
		this.known = true;
		if (!read.equals(before)) {
			logger.info("Paused topics: {} (before: {}); the actuator endpoint 'outbox' lists them", read.size(),
					before.size());
		}
		if (!read.containsAll(before)) {
			this.onResume.run();
		}
	}

}
