package dev.idempotent.idempotency;

import java.time.Duration;

/**
 * A claim whose lease is to start anew.
 *
 * @param key the key
 * @param token the claimant's token
 * @param lease how long the claim holds from now on
 */
public record ClaimedKey(IdempotencyKey key, String token, Duration lease) {
}
