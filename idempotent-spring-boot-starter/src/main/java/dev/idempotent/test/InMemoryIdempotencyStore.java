package dev.idempotent.test;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import dev.idempotent.idempotency.Claim;
import dev.idempotent.idempotency.Fingerprint;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.IdempotencyStore;
import dev.idempotent.idempotency.RunDescription;
import dev.idempotent.idempotency.StoredKey;
import dev.idempotent.idempotency.StoredResponse;
import org.jspecify.annotations.Nullable;

/**
 * Stores keys in memory, for tests without a server. The state machine of a key in its
 * simplest form. Thread-safe.
 */
public final class InMemoryIdempotencyStore implements IdempotencyStore {

	private final Map<IdempotencyKey, Entry> entries = new HashMap<>();

	private final InstantSource clock;

	/**
	 * Creates an empty store on the clock of this machine.
	 */
	public InMemoryIdempotencyStore() {
		this(InstantSource.system());
	}

	/**
	 * Creates an empty store.
	 * @param clock the clock on which leases and retentions end
	 */
	public InMemoryIdempotencyStore(InstantSource clock) {
		this.clock = clock;
	}

	@Override
	public Claim claim(IdempotencyKey key, Fingerprint fingerprint, String token, Duration lease) {
		return claimAs(key, fingerprint, token, lease, null);
	}

	@Override
	public Claim claim(IdempotencyKey key, Fingerprint fingerprint, String token, Duration lease, RunDescription run) {
		return claimAs(key, fingerprint, token, lease, run);
	}

	private synchronized Claim claimAs(IdempotencyKey key, Fingerprint fingerprint, String token, Duration lease,
			@Nullable RunDescription run) {
		Entry entry = entry(key);
		if (entry == null) {
			this.entries.put(key, new Entry(token, fingerprint, null, in(lease), run));
			return new Claim.Acquired();
		}
		if (entry.isHeldBy(token)) {
			this.entries.put(key, entry.until(in(lease)));
			return new Claim.Acquired();
		}
		Duration remaining = Duration.between(this.clock.instant(), entry.end());
		if (fingerprint.contradicts(entry.fingerprint())) {
			return new Claim.Mismatched((entry.response() == null) ? remaining : null);
		}
		return (entry.response() != null) ? new Claim.Completed(entry.response(), remaining)
				: new Claim.Pending(remaining);
	}

	@Override
	public synchronized boolean complete(IdempotencyKey key, Fingerprint fingerprint, String token,
			StoredResponse response, Duration retention) {
		Entry entry = entry(key);
		if (entry == null || entry.isHeldBy(token)) {
			this.entries.put(key, new Entry(token, fingerprint, response, in(retention), null));
			return true;
		}
		boolean own = entry.isCompletedBy(token);
		if (own && entry.end().isBefore(in(retention))) {
			this.entries.put(key, entry.until(in(retention)));
		}
		return own;
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
		this.entries.put(key, entry.until(in(lease)));
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

	@Override
	public synchronized PendingKeys findPending(int atMost) {
		Instant now = this.clock.instant();
		List<Map.Entry<IdempotencyKey, Entry>> pending = this.entries.entrySet()
			.stream()
			.filter((each) -> each.getValue().response() == null && now.isBefore(each.getValue().end()))
			.sorted(Comparator.comparing((each) -> each.getValue().end()))
			.toList();
		Map<IdempotencyKey, StoredKey> keys = new LinkedHashMap<>();
		pending.stream().limit(atMost).forEach((each) -> keys.put(each.getKey(), each.getValue().at(now)));
		return new PendingKeys(keys, (pending.size() <= atMost) ? null
				: Duration.between(now, pending.get(Math.max(0, atMost - 1)).getValue().end()));
	}

	@Override
	public String describe() {
		return "memory";
	}

	/**
	 * Removes a key, as its expiry would.
	 * @param key the key
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

	private record Entry(String token, Fingerprint fingerprint, @Nullable StoredResponse response, Instant end,
			@Nullable RunDescription run) {

		Entry until(Instant later) {
			return new Entry(this.token, this.fingerprint, this.response, later, this.run);
		}

		boolean isHeldBy(String claimant) {
			return this.response == null && this.token.equals(claimant);
		}

		boolean isCompletedBy(String claimant) {
			return this.response != null && this.token.equals(claimant);
		}

		StoredKey at(Instant now) {
			Duration remaining = Duration.between(now, this.end);
			return (this.response != null) ? StoredKey.completed(this.token, remaining, this.response)
					: StoredKey.pending(this.token, remaining, this.run);
		}

	}

}
