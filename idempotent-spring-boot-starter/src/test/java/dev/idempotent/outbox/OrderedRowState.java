package dev.idempotent.outbox;

import java.util.UUID;

import org.jspecify.annotations.Nullable;

/**
 * An ordered event in a store.
 *
 * @param event the event
 * @param keyHash the hash of its topic and key
 * @param row its row
 * @param claimId the last claim, if it was not given back
 * @param owner who claimed it
 * @param reason why it could not be delivered
 * @param blocked whether it waits for an operator
 */
public record OrderedRowState(SerializedEvent event, long keyHash, long row, @Nullable UUID claimId,
		@Nullable String owner, @Nullable String reason, boolean blocked) {
}
