package dev.idempotent.outbox;

import java.util.UUID;

import org.jspecify.annotations.Nullable;

/**
 * An event in a store.
 *
 * @param event the event; without headers if they are unreadable
 * @param claimId the last claim, if it was not given back
 * @param owner who claimed it
 * @param reason why it could not be delivered
 */
public record OutboxRow(SerializedEvent event, @Nullable UUID claimId, @Nullable String owner,
		@Nullable String reason) {

	/**
	 * The table of an event.
	 */
	public enum Place {

		/**
		 * Pending events.
		 */
		EVENT,

		/**
		 * Waiting events.
		 */
		WAITING,

		/**
		 * Dead events.
		 */
		DEAD

	}

}
