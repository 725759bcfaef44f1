package dev.idempotent.idempotency.claim;

import java.time.Duration;

import dev.idempotent.idempotency.Claim;
import dev.idempotent.idempotency.Fingerprint;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.IdempotencyStore;
import dev.idempotent.idempotency.StoredKey;
import dev.idempotent.idempotency.StoredResponse;
import org.jspecify.annotations.Nullable;

/**
 * Grants every claim and stores nothing. Used where the database decides alone.
 */
final class NoOpIdempotencyStore implements IdempotencyStore {

	@Override
	public Claim claim(IdempotencyKey key, Fingerprint fingerprint, String token, Duration lease) {
		return new Claim.Acquired();
	}

	@Override
	public boolean complete(IdempotencyKey key, Fingerprint fingerprint, String token, StoredResponse response,
			Duration retention) {
		return true;
	}

	@Override
	public boolean release(IdempotencyKey key, String token) {
		return true;
	}

	@Override
	public boolean renew(IdempotencyKey key, String token, Duration lease) {
		return true;
	}

	@Override
	public @Nullable StoredKey find(IdempotencyKey key) {
		return null;
	}

	@Override
	public boolean forget(IdempotencyKey key, String token) {
		return true;
	}

	@Override
	public String describe() {
		return "no store";
	}

}
