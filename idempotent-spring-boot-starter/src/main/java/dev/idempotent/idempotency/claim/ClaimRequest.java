package dev.idempotent.idempotency.claim;

import java.time.Duration;
import java.util.UUID;

import dev.idempotent.idempotency.Fingerprint;
import dev.idempotent.idempotency.IdempotencyContext;
import dev.idempotent.idempotency.IdempotencyKey;

/**
 * What one claimant brings to its key.
 *
 * @param key the key
 * @param fingerprint what the request asks for
 * @param token proves who holds the key
 * @param lease how long a claim holds without renewal
 * @param retention how long the answer is kept
 */
record ClaimRequest(IdempotencyKey key, Fingerprint fingerprint, String token, Duration lease, Duration retention) {

	/**
	 * A request with a token of its own.
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
