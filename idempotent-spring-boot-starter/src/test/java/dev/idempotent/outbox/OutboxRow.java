package dev.idempotent.outbox;

import java.util.UUID;

import org.jspecify.annotations.Nullable;

/**
 * What a store keeps of an event.
 *
 * @param event the event; without headers if they are unreadable
 * @param claimId the last claim, if it was not given back
 * @param owner who claimed it
 * @param reason why it could not be delivered
 */
public record OutboxRow(SerializedEvent event, @Nullable UUID claimId, @Nullable String owner,
		@Nullable String reason) {

	/**
	 * Where an event can be.
	 */
	public enum Place {

		/**
		 * Among those that nobody has failed to deliver.
		 */
		EVENT,

		/**
		 * Among those that wait for another attempt.
		 */
		WAITING,

		/**
		 * Among those that were given up.
		 */
		DEAD

	}

}
