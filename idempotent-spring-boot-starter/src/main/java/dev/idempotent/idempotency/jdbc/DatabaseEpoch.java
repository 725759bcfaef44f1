package dev.idempotent.idempotency.jdbc;

import java.time.Duration;

import dev.idempotent.jdbc.Database;
import org.jspecify.annotations.Nullable;

/**
 * The epoch that a database has told last, as {@link Database#epoch(String)} defines it.
 * Trusted for a few seconds: another database may have taken its place since.
 */
final class DatabaseEpoch {

	/**
	 * How long after a failover this process may still replay what was lost in it.
	 */
	static final Duration TRUSTED = Duration.ofSeconds(5);

	private volatile @Nullable Heard last;

	/**
	 * Records what a statement has returned.
	 * @param start when the statement was sent: the server may have ended since
	 */
	void heard(String epoch, long start) {
		Heard before = this.last;
		// Of two statements in a race, either may be recorded: each is true for its time.
		if (before == null || start - before.at() > 0) {
			this.last = new Heard(epoch, start);
		}
	}

	/**
	 * Returns whether this is the epoch of the database, as far as this process knows.
	 * @return {@code false} also if the database has told none lately
	 */
	boolean isCurrent(String epoch) {
		Heard heard = this.last;
		return heard != null && heard.epoch().equals(epoch) && System.nanoTime() - heard.at() < TRUSTED.toNanos();
	}

	private record Heard(String epoch, long at) {
	}

}
