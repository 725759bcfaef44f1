package dev.idempotent.sample.rush;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicIntegerArray;

/**
 * Percentiles of response times up to ten seconds, to a tenth of a millisecond.
 */
final class Latencies {

	private static final long NANOS_PER_BUCKET = 100_000;

	private static final double BUCKETS_PER_MILLISECOND = 10.0;

	private final AtomicIntegerArray buckets = new AtomicIntegerArray(100_000);

	void add(Duration time) {
		this.buckets.incrementAndGet((int) Math.min(time.toNanos() / NANOS_PER_BUCKET, this.buckets.length() - 1));
	}

	/**
	 * Returns the response time that the given percentage of responses did not exceed, in
	 * milliseconds, or 0 if there are none.
	 */
	double percentile(int percent) {
		long total = 0;
		for (int i = 0; i < this.buckets.length(); i++) {
			total += this.buckets.get(i);
		}
		long rank = (total * percent + 99) / 100;
		long seen = 0;
		for (int i = 0; i < this.buckets.length() && total > 0; i++) {
			seen += this.buckets.get(i);
			if (seen >= rank) {
				return (i + 1) / BUCKETS_PER_MILLISECOND;
			}
		}
		return 0;
	}

}
