package dev.idempotent.outbox.courier;

import java.time.Duration;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps events from a publisher that is unavailable, but for a few now and then.
 */
final class PublisherCircuit {

	private static final Logger logger = LoggerFactory.getLogger(PublisherCircuit.class);

	private static final BackOff PAUSES = new BackOff(Duration.ofSeconds(1), Duration.ofSeconds(15));

	private static final Duration SHORTEST = Duration.ofMillis(200);

	private final String publisher;

	private int failures;

	private long pausedUntil;

	PublisherCircuit(String publisher) {
		this.publisher = publisher;
	}

	/**
	 * Whether the publisher was available when it was last asked.
	 */
	synchronized boolean isClosed() {
		return this.failures == 0;
	}

	/**
	 * Whether events may be sent.
	 */
	synchronized boolean permits() {
		return this.failures == 0 || System.nanoTime() - this.pausedUntil >= 0;
	}

	synchronized void succeeded() {
		if (this.failures > 0) {
			logger.info("The publisher of {} is available again", this.publisher);
		}
		this.failures = 0;
	}

	synchronized void failed(String reason) {
		if (this.failures == 0) {
			logger.warn("The publisher of {} is unavailable; events are kept until it is back: {}", this.publisher,
					reason);
		}
		this.failures++;
		this.pausedUntil = System.nanoTime() + SHORTEST.plus(PAUSES.after(this.failures)).toNanos();
	}

}
