package dev.idempotent.idempotency.claim;

import java.time.Duration;
import java.util.UUID;

import dev.idempotent.idempotency.Fingerprint;
import dev.idempotent.idempotency.IdempotencyContext;
import dev.idempotent.idempotency.IdempotencyKey;

/**
 * The parameters of one claim.
 *
 * @param key the key
 * @param fingerprint the fingerprint of the request
 * @param token proves the ownership of the key
 * @param lease how long the claim holds without renewal
 * @param retention how long the response is kept
 */
record ClaimRequest(IdempotencyKey key, Fingerprint fingerprint, String token, Duration lease, Duration retention) {

	/**
	 * Creates a request with a new token.
	 */
	static ClaimRequest of(IdempotencyKey key, Fingerprint fingerprint, Duration lease, Duration retention) {
		return new ClaimRequest(key, fingerprint, UUID.randomUUID().toString(), lease, retention);
	}

	IdempotencyContext context() {
		return new IdempotencyContext(this.key, this.token);
	}

	ClaimRequest withNewToken() {
		return of(this.key, this.fingerprint, this.lease, this.retention);
	}

}
