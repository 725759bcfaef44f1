package dev.idempotent.outbox.jdbc;

import java.util.List;
import java.util.Objects;

import org.jspecify.annotations.Nullable;

/**
 * A row as it was read.
 *
 * @param attempts how many attempts have begun
 * @param bytes the size of the payload and the headers as they are stored
 * @param due whether it can be claimed: neither leased, waiting nor blocked
 * @param interrupted whether its last counted attempt did not end: the event may have
 * been the reason, and is delivered alone
 * @param isNew whether no attempt has begun, not even one that was not counted;
 * {@code false} if the database cannot tell
 * @param traced whether an attempt has begun that was not counted, or another transaction
 * has locked the row
 * @param epoch of the table: ids that start again do so in another one; {@code null} if
 * the database cannot tell
 */
public record QueuedEvent(long lane, long id, int attempts, String topic, @Nullable String key, long bytes, boolean due,
		boolean interrupted, boolean isNew, boolean traced, @Nullable String epoch) {

	/**
	 * The primary key of the row: ids can be equal in several lanes, such as the ids of
	 * retried events after the table was truncated.
	 * @return lane and id
	 */
	public List<Long> place() {
		return List.of(this.lane, this.id);
	}

	/**
	 * Whether no row can be between this one and another one that a search behind this
	 * one has found. Another key of the lane may have an earlier row that committed
	 * later. In another epoch of the table, ids may have started again.
	 * @param next the row that was found
	 * @return whether it is the next one of the lane
	 */
	public boolean isFollowedBy(QueuedEvent next) {
		return next.id > this.id && next.topic.equals(this.topic) && Objects.equals(next.key, this.key)
				&& Objects.equals(next.epoch, this.epoch);
	}

}
