package dev.idempotent.autoconfigure.idempotency;

import dev.idempotent.idempotency.IdempotencyStore;

/**
 * The store that the guard calls.
 *
 * @param store the store of the application, behind a replay cache if that is on
 */
public record EffectiveStore(IdempotencyStore store) {
}
