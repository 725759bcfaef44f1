package dev.idempotent.outbox.relay;

import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Growing waits with full jitter, so that what failed together is not tried again
 * together.
 *
 * @param first the longest first wait
 * @param longest the longest wait
 * @see <a href=
 * "https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/">Exponential
 * Backoff And Jitter</a>
 */
record BackOff(Duration first, Duration longest) {

	private static final int MAX_DOUBLINGS = 40;

	/**
	 * How long to wait after some failures in a row.
	 * @param failures at least 1
	 */
	Duration after(int failures) {
		long nanos = ceiling(failures).toNanos();
		return Duration.ofNanos(ThreadLocalRandom.current().nextLong(nanos + 1));
	}

	private Duration ceiling(int failures) {
		Duration grown = this.first.multipliedBy(1L << Math.min(failures - 1, MAX_DOUBLINGS));
		return (grown.compareTo(this.longest) < 0) ? grown : this.longest;
	}

}
