package dev.idempotent.stream;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

/**
 * Chooses the next entry of an idle worker. Pending and new entries alternate while there
 * are both, so that neither kind starves the other.
 */
final class EntryReader {

	private static final Duration MAX_POLL = Duration.ofSeconds(1);

	private final Duration minIdleTime;

	private final Duration poll;

	private long lastEmptyClaim = System.nanoTime();

	private boolean isTurnOfNew;

	private @Nullable String lastClaimed;

	EntryReader(Duration minIdleTime) {
		Duration half = minIdleTime.dividedBy(2);
		this.minIdleTime = minIdleTime;
		this.poll = (half.compareTo(MAX_POLL) > 0) ? MAX_POLL : half;
	}

	/**
	 * Waits up to a second for an entry.
	 * @return the entry, or {@code null} if there is none
	 */
	@Nullable Entry next(ConsumerOperations consumer) {
		Entry entry = null;
		if (this.isTurnOfNew) {
			this.isTurnOfNew = false;
			entry = consumer.read(Duration.ZERO);
		}
		if (entry == null && System.nanoTime() - this.lastEmptyClaim > this.poll.toNanos()) {
			entry = claim(consumer);
		}
		return (entry != null) ? entry : consumer.read(this.poll);
	}

	/**
	 * Claims pending entries in rotation, so that an entry that keeps failing comes after
	 * all others.
	 */
	private @Nullable Entry claim(ConsumerOperations consumer) {
		Entry entry = consumer.claim(this.minIdleTime, this.lastClaimed);
		if (entry == null) {
			this.lastEmptyClaim = System.nanoTime();
			return null;
		}
		this.isTurnOfNew = true;
		this.lastClaimed = entry.id();
		return entry;
	}

}
