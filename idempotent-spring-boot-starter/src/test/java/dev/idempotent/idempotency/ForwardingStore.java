package dev.idempotent.idempotency;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

/**
 * Forwards to another store, for tests that observe or disturb it.
 */
public abstract class ForwardingStore implements IdempotencyStore {

	protected abstract IdempotencyStore target();

	@Override
	public Claim claim(IdempotencyKey key, Fingerprint fingerprint, String token, Duration lease) {
		return target().claim(key, fingerprint, token, lease);
	}

	@Override
	public boolean complete(IdempotencyKey key, Fingerprint fingerprint, String token, StoredResponse response,
			Duration retention) {
		return target().complete(key, fingerprint, token, response, retention);
	}

	@Override
	public boolean release(IdempotencyKey key, String token) {
		return target().release(key, token);
	}

	@Override
	public boolean renew(IdempotencyKey key, String token, Duration lease) {
		return target().renew(key, token, lease);
	}

	@Override
	public @Nullable StoredKey find(IdempotencyKey key) {
		return target().find(key);
	}

	@Override
	public boolean forget(IdempotencyKey key, String token) {
		return target().forget(key, token);
	}

}
