package dev.idempotent.autoconfigure.actuate;

import java.time.Duration;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import java.util.function.ToDoubleFunction;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A cached summary of a store. Only one thread refreshes it at a time, while others use
 * the last one; a failure is cached, too.
 */
final class RecentSummary<T> {

	private static final Logger logger = LoggerFactory.getLogger(RecentSummary.class);

	/**
	 * How long gauges share a reading.
	 */
	static final Duration MAX_AGE = Duration.ofSeconds(5);

	private final Supplier<T> source;

	private final Duration maxAge;

	private final ReentrantLock lock = new ReentrantLock();

	private volatile @Nullable T last;

	private volatile @Nullable Long readAt;

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
					this.last = read();
					this.readAt = System.nanoTime();
				}
			}
			finally {
				this.lock.unlock();
			}
		}
		return this.last;
	}

	/**
	 * A number of the summary, or {@code NaN} if it could not be read.
	 */
	double get(ToDoubleFunction<T> number) {
		T summary = get();
		return (summary != null) ? number.applyAsDouble(summary) : Double.NaN;
	}

	private boolean isOld() {
		Long at = this.readAt;
		return at == null || System.nanoTime() - at >= this.maxAge.toNanos();
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

}
