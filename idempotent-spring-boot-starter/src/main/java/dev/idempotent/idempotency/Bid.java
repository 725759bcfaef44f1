package dev.idempotent.idempotency;

import java.time.Duration;
import java.util.UUID;

/**
 * What one claimant brings to its key.
 *
 * @param key the key
 * @param fingerprint what the request asks for
 * @param token proves who holds the key
 * @param lease how long a claim holds without renewal
 * @param retention how long the answer is kept
 */
record Bid(IdempotencyKey key, Fingerprint fingerprint, String token, Duration lease, Duration retention) {

	/**
	 * A bid with a token of its own.
	 */
	static Bid of(IdempotencyKey key, Fingerprint fingerprint, Duration lease, Duration retention) {
		return new Bid(key, fingerprint, UUID.randomUUID().toString(), lease, retention);
	}

	IdempotencyContext context() {
		return new IdempotencyContext(this.key, this.token);
	}

	Bid withNewToken() {
		return of(this.key, this.fingerprint, this.lease, this.retention);
	}

}
