package dev.idempotent.outbox.relay;

import java.time.Duration;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.stream.Collectors;

import dev.idempotent.outbox.TopicControl;
import dev.idempotent.outbox.TopicControl.PausedTopic;
import dev.idempotent.work.OutageLog;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps the circuits of a relay up to date with the paused topics. If these cannot be
 * read, the last known ones stay paused. Shared by the workers of all publishers.
 */
final class PausedTopics {

	private static final Logger logger = LoggerFactory.getLogger(PausedTopics.class);

	private static final Duration MIN_AGE = Duration.ofMillis(100);

	private static final long PAUSE_MILLIS = 100;

	private final TopicControl control;

	private final Consumer<Set<String>> circuits;

	private final OutageLog outage = new OutageLog(logger,
			"The paused topics of the outbox cannot be read; the last known ones stay paused",
			"The paused topics of the outbox can be read again");

	private Set<String> topics = Set.of();

	private long lastRead;

	private volatile boolean known;

	/**
	 * Creates paused topics that are not known yet.
	 * @param circuits called with the paused topics after each read
	 */
	PausedTopics(TopicControl control, Consumer<Set<String>> circuits) {
		this.control = control;
		this.circuits = circuits;
	}

	/**
	 * Whether the paused topics have been read. Until then, nothing may be published.
	 */
	boolean isKnown() {
		return this.known;
	}

	/**
	 * Reads the paused topics unless another worker has just done so.
	 */
	void refresh() {
		refresh(MIN_AGE);
	}

	/**
	 * Reads the paused topics unless this was done less than a time ago.
	 */
	synchronized void refresh(Duration minAge) {
		if (!this.known || System.nanoTime() - this.lastRead >= minAge.toNanos()) {
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

	/**
	 * Requires another read before anything may be published.
	 */
	void expire() {
		this.known = false;
	}

	/**
	 * Repeats the first read until it succeeds.
	 * @param condition whether to continue
	 */
	void awaitKnown(BooleanSupplier condition) {
		new RepeatingTask(() -> !this.known && condition.getAsBoolean(), () -> {
			refresh();
			if (!this.known) {
				Thread.sleep(PAUSE_MILLIS);
			}
		}).run();
	}

	private void apply(Set<String> read) {
		this.circuits.accept(read);
		if (!read.equals(this.topics)) {
			logger.info("Paused topics: {} (before: {}); the actuator endpoint 'outbox' lists them", read.size(),
					this.topics.size());
		}
		this.topics = read;
		this.known = true;
	}

}
