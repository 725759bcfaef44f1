package dev.idempotent.idempotency;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.Map;

import org.jspecify.annotations.Nullable;

/**
 * The state machine of a key in its simplest form: the model for other stores, and the
 * store of tests without a server.
 */
public final class InMemoryIdempotencyStore implements IdempotencyStore {

	private final Map<IdempotencyKey, Entry> entries = new HashMap<>();

	private final InstantSource clock;

	public InMemoryIdempotencyStore(InstantSource clock) {
		this.clock = clock;
	}

	@Override
	public synchronized Claim claim(IdempotencyKey key, Fingerprint fingerprint, String token, Duration lease) {
		Entry entry = entry(key);
		if (entry == null) {
			this.entries.put(key, new Entry(token, fingerprint, null, in(lease)));
			return new Claim.Acquired();
		}
		if (entry.isHeldBy(token)) {
			this.entries.put(key, new Entry(token, entry.fingerprint(), null, in(lease)));
			return new Claim.Acquired();
		}
		if (fingerprint.contradicts(entry.fingerprint())) {
			return new Claim.Mismatched();
		}
		Duration remaining = Duration.between(this.clock.instant(), entry.end());
		return (entry.response() != null) ? new Claim.Completed(entry.response(), remaining)
				: new Claim.Pending(remaining);
	}

	@Override
	public synchronized boolean complete(IdempotencyKey key, Fingerprint fingerprint, String token,
			StoredResponse response, Duration retention) {
		Entry entry = entry(key);
		if (entry == null || entry.isHeldBy(token)) {
			this.entries.put(key, new Entry(token, fingerprint, response, in(retention)));
			return true;
		}
		return entry.token().equals(token);
	}

	@Override
	public synchronized boolean release(IdempotencyKey key, String token) {
		Entry entry = entry(key);
		if (entry != null && entry.isHeldBy(token)) {
			this.entries.remove(key);
		}
		return entry == null || entry.isHeldBy(token);
	}

	@Override
	public synchronized boolean renew(IdempotencyKey key, String token, Duration lease) {
		Entry entry = entry(key);
		if (entry == null || !entry.isHeldBy(token)) {
			return false;
		}
		this.entries.put(key, new Entry(token, entry.fingerprint(), null, in(lease)));
		return true;
	}

	@Override
	public synchronized @Nullable StoredKey find(IdempotencyKey key) {
		Entry entry = entry(key);
		return (entry != null) ? entry.at(this.clock.instant()) : null;
	}

	@Override
	public synchronized boolean forget(IdempotencyKey key, String token) {
		Entry entry = entry(key);
		boolean free = entry == null || entry.isCompletedBy(token);
		if (free) {
			this.entries.remove(key);
		}
		return free;
	}

	/**
	 * Removes a key, as its expiry would.
	 */
	public synchronized void forget(IdempotencyKey key) {
		this.entries.remove(key);
	}

	private @Nullable Entry entry(IdempotencyKey key) {
		return this.entries.computeIfPresent(key,
				(found, entry) -> this.clock.instant().isBefore(entry.end()) ? entry : null);
	}

	private Instant in(Duration time) {
		return this.clock.instant().plus(time);
	}

	private record Entry(String token, Fingerprint fingerprint, @Nullable StoredResponse response, Instant end) {

		boolean isHeldBy(String claimant) {
			return this.response == null && this.token.equals(claimant);
		}

		boolean isCompletedBy(String claimant) {
			return this.response != null && this.token.equals(claimant);
		}

		StoredKey at(Instant now) {
			Duration remaining = Duration.between(now, this.end);
			return (this.response != null) ? StoredKey.completed(this.token, remaining, this.response)
					: StoredKey.pending(this.token, remaining);
		}

	}

}
