package dev.idempotent.idempotency.caffeine;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.Expiry;
import dev.idempotent.idempotency.Claim;
import dev.idempotent.idempotency.IdempotencyStore.Renewal;
import dev.idempotent.idempotency.Fingerprint;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.IdempotencyStore;
import dev.idempotent.idempotency.RunDescription;
import dev.idempotent.idempotency.StoredKey;
import dev.idempotent.idempotency.StoredResponse;
import org.jspecify.annotations.Nullable;

/**
 * Serves claims on completed keys from memory without calling the store. Only completed
 * keys are cached, since they no longer change, with their fingerprint and until their
 * retention ends. A key that the store has lost can still be replayed for the time to
 * live.
 */
public final class CachingIdempotencyStore implements IdempotencyStore {

	/**
	 * The size of an entry without its response: key, fingerprint, and their objects.
	 */
	private static final int OVERHEAD = 512;

	private final IdempotencyStore store;

	private final Duration timeToLive;

	private final Cache<IdempotencyKey, Entry> entries;

	/**
	 * Creates a cache in front of a store.
	 * @param store the store that decides
	 * @param maxBytes the approximate memory limit in bytes
	 * @param timeToLive how long an entry is cached at most
	 */
	public CachingIdempotencyStore(IdempotencyStore store, long maxBytes, Duration timeToLive) {
		this.store = store;
		this.timeToLive = timeToLive;
		this.entries = Caffeine.newBuilder()
			.maximumWeight(maxBytes)
			.weigher((IdempotencyKey key, Entry entry) -> OVERHEAD + entry.response().size())
			.recordStats()
			.expireAfter(Expiry.creating((IdempotencyKey key, Entry entry) -> entry.timeToLive()))
			.build();
	}

	@Override
	public Claim claim(IdempotencyKey key, Fingerprint fingerprint, String token, Duration lease) {
		return claim(key, fingerprint, () -> this.store.claim(key, fingerprint, token, lease));
	}

	@Override
	public Claim claim(IdempotencyKey key, Fingerprint fingerprint, String token, Duration lease, RunDescription run) {
		return claim(key, fingerprint, () -> this.store.claim(key, fingerprint, token, lease, run));
	}

	private Claim claim(IdempotencyKey key, Fingerprint fingerprint, Supplier<Claim> claimInStore) {
		Entry entry = this.entries.getIfPresent(key);
		// Another fingerprint may have another format version: the store compares.
		if (entry != null && entry.fingerprint().equals(fingerprint)) {
			return new Claim.Completed(entry.response(), entry.timeToLive());
		}
		Claim claim = claimInStore.get();
		if (claim instanceof Claim.Completed completed) {
			cache(key, fingerprint, completed);
		}
		return claim;
	}

	@Override
	public boolean complete(IdempotencyKey key, Fingerprint fingerprint, String token, StoredResponse response,
			Duration retention) {
		// Not cached: the store may have kept an earlier response of this token.
		boolean own = this.store.complete(key, fingerprint, token, response, retention);
		if (!own) {
			// The store may have another response than the cache.
			this.entries.invalidate(key);
		}
		return own;
	}

	@Override
	public boolean release(IdempotencyKey key, String token) {
		return this.store.release(key, token);
	}

	@Override
	public boolean renew(IdempotencyKey key, String token, Duration lease) {
		return this.store.renew(key, token, lease);
	}

	@Override
	public @Nullable StoredKey find(IdempotencyKey key) {
		return this.store.find(key);
	}

	/**
	 * Drops the key from this cache, too. Caches of other instances replay it until their
	 * time to live ends.
	 */
	@Override
	public boolean forget(IdempotencyKey key, String token) {
		boolean forgotten = this.store.forget(key, token);
		if (forgotten) {
			this.entries.invalidate(key);
		}
		return forgotten;
	}

	@Override
	public void announce(Map<IdempotencyKey, Duration> pending) {
		this.store.announce(pending);
	}

	@Override
	public @Nullable PendingKeys findPending(int atMost) {
		return this.store.findPending(atMost);
	}

	@Override
	public @Nullable KeyCount count(int atMost) {
		return this.store.count(atMost);
	}

	@Override
	public Set<Renewal> renewAll(List<Renewal> held) {
		return this.store.renewAll(held);
	}

	@Override
	public boolean isDatabase() {
		return this.store.isDatabase();
	}

	@Override
	public String describe() {
		return this.store.describe();
	}

	/**
	 * The cache, for its statistics.
	 * @return the cache by key
	 */
	public Cache<IdempotencyKey, ?> cache() {
		return this.entries;
	}

	private void cache(IdempotencyKey key, Fingerprint fingerprint, Claim.Completed completed) {
		Duration retention = completed.remainingRetention();
		Duration shorter = (retention.compareTo(this.timeToLive) < 0) ? retention : this.timeToLive;
		this.entries.put(key, new Entry(fingerprint, completed.response(), shorter));
	}

	private record Entry(Fingerprint fingerprint, StoredResponse response, Duration timeToLive) {
	}

}
