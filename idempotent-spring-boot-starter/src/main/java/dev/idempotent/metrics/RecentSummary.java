package dev.idempotent.metrics;

import java.time.Duration;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A cached summary of a store. Only one thread refreshes it at a time, while others use
 * the last one; a failure is cached, too.
 */
final class RecentSummary<T> {

	private static final Logger logger = LoggerFactory.getLogger(RecentSummary.class);

	private final Supplier<T> source;

	private final Duration maxAge;

	private final ReentrantLock lock = new ReentrantLock();

	private volatile @Nullable Reading<T> last;

	RecentSummary(Supplier<T> source, Duration maxAge) {
		this.source = source;
		this.maxAge = maxAge;
	}

	/**
	 * The summary, refreshed if it is too old.
	 * @return {@code null} if it could not be read
	 */
	@Nullable T get() {
		if (isOld() && this.lock.tryLock()) {
			try {
				if (isOld()) {
					T summary = read();
					this.last = new Reading<>(summary, System.nanoTime());
				}
			}
			finally {
				this.lock.unlock();
			}
		}
		Reading<T> reading = this.last;
		return (reading != null) ? reading.summary() : null;
	}

	private boolean isOld() {
		Reading<T> reading = this.last;
		return reading == null || System.nanoTime() - reading.at() >= this.maxAge.toNanos();
	}

	private @Nullable T read() {
		try {
			return this.source.get();
		}
		catch (RuntimeException ex) {
			logger.debug("Failed to read the summary for the gauges", ex);
			return null;
		}
	}

	private record Reading<T>(@Nullable T summary, long at) {
	}

}
