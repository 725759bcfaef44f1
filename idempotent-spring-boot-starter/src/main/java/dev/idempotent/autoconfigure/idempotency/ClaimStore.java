package dev.idempotent.autoconfigure.idempotency;

import dev.idempotent.idempotency.IdempotencyStore;

/**
 * The store that claims call, including its replay cache. Not a bean of type
 * {@link IdempotencyStore}, which would make two of them.
 *
 * @param store the store
 */
record ClaimStore(IdempotencyStore store) {
}
