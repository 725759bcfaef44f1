package dev.idempotent.outbox;

import java.util.UUID;

import org.jspecify.annotations.Nullable;

/**
 * Selects the events that match all of the given values.
 *
 * @param id the id of one event, or {@code null} for any
 * @param type the type, or {@code null} for any
 * @param topic the topic, or {@code null} for any
 * @param upTo the last row, as in {@link DeadEvents.DeadPage#newest()}, or {@code null}
 * for any
 */
public record EventFilter(@Nullable UUID id, @Nullable String type, @Nullable String topic, @Nullable Long upTo) {

	/**
	 * Matches all events.
	 */
	public static final EventFilter ALL = new EventFilter(null, null, null);

	/**
	 * Creates a filter of events in any row.
	 * @param id the id of one event, or {@code null} for any
	 * @param type the type, or {@code null} for any
	 * @param topic the topic, or {@code null} for any
	 */
	public EventFilter(@Nullable UUID id, @Nullable String type, @Nullable String topic) {
		this(id, type, topic, null);
	}

}
