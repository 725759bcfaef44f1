package dev.idempotent.idempotency.web;

import java.time.Duration;

import dev.idempotent.idempotency.IdempotencyKey;

/**
 * The key of a request, and what follows from its source.
 *
 * @param key the key
 * @param retention how long the response is kept
 * @param expired whether the request may only be answered with a stored response
 */
record RequestKey(IdempotencyKey key, Duration retention, boolean expired) {
}
