package dev.idempotent.outbox.relay;

import java.time.Duration;
import java.util.Set;
import java.util.stream.Collectors;

import dev.idempotent.IdempotentConfigurationException;
import dev.idempotent.outbox.TopicControl;
import dev.idempotent.outbox.TopicControl.PausedTopic;
import dev.idempotent.concurrent.OutageLog;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The paused topics as they were read last. If they cannot be read, the last known ones
 * stay paused.
 */
final class PausedTopics {

	private static final Logger logger = LoggerFactory.getLogger(PausedTopics.class);

	private final TopicControl control;

	private final Runnable requirements;

	private final Runnable onResume;

	private final OutageLog refusal = new OutageLog(logger, "The outbox relay delivers nothing", "");

	private final OutageLog outage = new OutageLog(logger,
			"The paused topics of the outbox cannot be read; the last known ones stay paused",
			"The paused topics of the outbox can be read again");

	private volatile Set<String> topics = Set.of();

	private volatile boolean known;

	private long lastRead;

	/**
	 * Creates paused topics that are not known yet.
	 * @param requirements what must not fail before they are known: the start of the
	 * application may not have checked it, because the database was read-only then, or
	 * the outbox off
	 * @param onResume called when a topic is no longer paused
	 */
	PausedTopics(TopicControl control, Runnable requirements, Runnable onResume) {
		this.control = control;
		this.requirements = requirements;
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
			if (!this.known) {
				this.requirements.run();
			}
			apply(this.control.paused().stream().map(PausedTopic::topic).collect(Collectors.toUnmodifiableSet()));
			this.outage.succeeded(start);
		}
		catch (RuntimeException ex) {
			((ex instanceof IdempotentConfigurationException) ? this.refusal : this.outage).failed(start, ex);
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
