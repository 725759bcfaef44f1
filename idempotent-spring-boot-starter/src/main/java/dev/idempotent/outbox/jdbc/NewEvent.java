package dev.idempotent.outbox.jdbc;

import java.time.Duration;
import java.time.Instant;
import java.util.Map;

import dev.idempotent.outbox.SerializedEvent;
import org.jspecify.annotations.Nullable;

/**
 * An event to insert, which a transaction has collected.
 *
 * @param lane the lane of its row
 * @param event without a row yet
 * @param ordered whether it is delivered after the earlier events of its topic and key
 * @param availableAt when to deliver an unordered event at the earliest, or {@code null}
 * for as soon as possible
 */
public record NewEvent(long lane, SerializedEvent event, boolean ordered, @Nullable Instant availableAt) {

	/**
	 * Creates an event for its lane.
	 * @param event without a row yet
	 * @param ordered whether it is delivered after the earlier events of its topic and
	 * key
	 * @param availableAt when to deliver an unordered event at the earliest, or
	 * {@code null} for as soon as possible
	 */
	public NewEvent(SerializedEvent event, boolean ordered, @Nullable Instant availableAt) {
		this(LaneHash.of(event.topic(), ordered ? event.key() : null), event, ordered, availableAt);
	}

	/**
	 * The event as it is stored.
	 */
	NewEvent with(SerializedEvent stored) {
		return new NewEvent(this.lane, stored, this.ordered, this.availableAt);
	}

	/**
	 * Returns the time until it is due, in whole milliseconds, because the database would
	 * drop a part of one.
	 * @return 0 for an event without a delay
	 */
	long delayMillis(Instant now) {
		return (!this.ordered && this.availableAt != null && this.availableAt.isAfter(now))
				? Duration.between(now, this.availableAt).plusNanos(999_999).toMillis() : 0;
	}

	/**
	 * The size of the payload and the headers.
	 */
	long bytes() {
		long bytes = this.event.payload().length;
		for (Map.Entry<String, String> header : this.event.storedHeaders().entrySet()) {
			bytes += header.getKey().length() + header.getValue().length();
		}
		return bytes;
	}

}
