package dev.idempotent.outbox;

import java.util.UUID;

/**
 * An event and the claim by which it is held.
 *
 * @param event the event
 * @param claimId the claim
 * @param parked whether it is one that waited for another attempt
 */
public record LeasedEvent(SerializedEvent event, UUID claimId, boolean parked) {
}
