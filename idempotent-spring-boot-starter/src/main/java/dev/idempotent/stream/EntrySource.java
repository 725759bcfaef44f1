package dev.idempotent.stream;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

/**
 * Chooses the next entry of a worker, which asks for one when it has none. Pending and
 * new entries alternate as long as there are both, so that neither waits for the other.
 */
final class EntrySource {

	private static final Duration SECOND = Duration.ofSeconds(1);

	private final Duration minIdleTime;

	private final Duration poll;

	private long lastEmptyClaim = System.nanoTime();

	private boolean isTurnOfNew;

	private @Nullable String lastClaimed;

	EntrySource(Duration minIdleTime) {
		Duration half = minIdleTime.dividedBy(2);
		this.minIdleTime = minIdleTime;
		this.poll = (half.compareTo(SECOND) > 0) ? SECOND : half;
	}

	/**
	 * Waits up to a second for an entry.
	 * @return the entry, or {@code null} if there is none
	 */
	@Nullable Entry next(GroupConsumer consumer) {
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
	 * Goes through the pending entries in turn: one that fails again and again comes
	 * after all others that can be claimed.
	 */
	private @Nullable Entry claim(GroupConsumer consumer) {
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
