package dev.idempotent.outbox;

import java.util.UUID;

import org.jspecify.annotations.Nullable;

/**
 * Which of the dead events are meant: those that have all that is stated.
 *
 * @param id names one event, or {@code null}
 * @param type what has happened, or {@code null}
 * @param topic where they were to go, or {@code null}
 */
public record DeadFilter(@Nullable UUID id, @Nullable String type, @Nullable String topic) {

	/**
	 * All of them.
	 */
	public static final DeadFilter ALL = new DeadFilter(null, null, null);

}
