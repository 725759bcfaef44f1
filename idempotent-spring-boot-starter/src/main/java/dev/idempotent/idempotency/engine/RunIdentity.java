package dev.idempotent.idempotency.engine;

import java.time.Duration;

import dev.idempotent.idempotency.Fingerprint;
import dev.idempotent.idempotency.IdempotencyKey;

/**
 * What tells a run from other runs, and for how long.
 *
 * @param key the key to claim
 * @param fingerprint the fingerprint of the request or the call
 * @param retention how long the response is kept
 * @param byFingerprint whether the key is the fingerprint of the request or the call: an
 * equal one is its retry until the retention has ended, and another one after that,
 * although the key is the same
 */
public record RunIdentity(IdempotencyKey key, Fingerprint fingerprint, Duration retention, boolean byFingerprint) {

	/**
	 * Creates the identity of a run whose key stands for one request or call for good.
	 * @param key the key to claim
	 * @param fingerprint the fingerprint of the request or the call
	 * @param retention how long the response is kept
	 * @return the identity
	 */
	public static RunIdentity of(IdempotencyKey key, Fingerprint fingerprint, Duration retention) {
		return new RunIdentity(key, fingerprint, retention, false);
	}

}
