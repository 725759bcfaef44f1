package dev.idempotent.idempotency.claim;

import java.time.Duration;
import java.time.Instant;

import dev.idempotent.idempotency.Fingerprint;
import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.IdempotencyContext;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.RunOrigin;
import org.jspecify.annotations.Nullable;

/**
 * The parameters of one claim.
 *
 * @param key the key
 * @param fingerprint the fingerprint of the request
 * @param origin where the run comes from
 * @param token proves the ownership of the key, and contains the origin
 * @param lease how long the claim holds without renewal
 * @param retention how long the response is kept
 */
record ClaimRequest(IdempotencyKey key, Fingerprint fingerprint, RunOrigin origin, String token, Duration lease,
		Duration retention) {

	private static final TokenIds TOKEN_IDS = new TokenIds();

	/**
	 * Creates a request with a new token.
	 */
	static ClaimRequest of(IdempotencyKey key, Fingerprint fingerprint, Guarantee guarantee,
			@Nullable String traceparent, Duration lease, Duration retention) {
		RunOrigin origin = new RunOrigin(Instant.now(), guarantee, traceparent);
		return new ClaimRequest(key, fingerprint, origin, origin.toToken(TOKEN_IDS.next()), lease, retention);
	}

	IdempotencyContext context() {
		return new IdempotencyContext(this.key, this.token);
	}

	ClaimRequest withNewToken() {
		return of(this.key, this.fingerprint, this.origin.guarantee(), this.origin.traceparent(), this.lease,
				this.retention);
	}

}
