package dev.idempotent.idempotency.method;

import java.time.Duration;
import java.time.InstantSource;

import dev.idempotent.idempotency.Claim;
import dev.idempotent.idempotency.Fingerprint;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.IdempotencyStore;
import dev.idempotent.idempotency.InMemoryIdempotencyStore;
import dev.idempotent.idempotency.StoredResponse;

/**
 * A store in memory that can be wiped.
 */
public final class ForgetfulStore implements IdempotencyStore {

	private volatile IdempotencyStore store = new InMemoryIdempotencyStore(InstantSource.system());

	public void forget() {
		this.store = new InMemoryIdempotencyStore(InstantSource.system());
	}

	@Override
	public Claim claim(IdempotencyKey key, Fingerprint fingerprint, String token, Duration lease) {
		return this.store.claim(key, fingerprint, token, lease);
	}

	@Override
	public boolean complete(IdempotencyKey key, Fingerprint fingerprint, String token, StoredResponse response,
			Duration retention) {
		return this.store.complete(key, fingerprint, token, response, retention);
	}

	@Override
	public boolean release(IdempotencyKey key, String token) {
		return this.store.release(key, token);
	}

	@Override
	public boolean renew(IdempotencyKey key, String token, Duration lease) {
		return this.store.renew(key, token, lease);
	}

}
