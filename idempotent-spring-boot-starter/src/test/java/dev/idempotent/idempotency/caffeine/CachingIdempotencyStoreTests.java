package dev.idempotent.idempotency.caffeine;

import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

import dev.idempotent.idempotency.Claim;
import dev.idempotent.idempotency.Fingerprint;
import dev.idempotent.idempotency.ForwardingStore;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.IdempotencyStore;
import dev.idempotent.idempotency.Samples;
import dev.idempotent.idempotency.StoredResponse;
import dev.idempotent.test.IdempotencyStoreContract;
import dev.idempotent.test.InMemoryIdempotencyStore;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

class CachingIdempotencyStoreTests {

	private static final Duration MINUTE = Duration.ofMinutes(1);

	private static final Fingerprint FINGERPRINT = Fingerprint.of(List.of(new byte[] { 1 }));

	private static final Fingerprint OTHER = Fingerprint.of(List.of(new byte[] { 2 }));

	private final AtomicInteger claims = new AtomicInteger();

	private final InMemoryIdempotencyStore store = new InMemoryIdempotencyStore(InstantSource.system());

	@Test
	void answersForACompletedKeyWithoutCallingTheStore() {
		IdempotencyStore cached = cached(1_000_000, MINUTE);
		IdempotencyKey key = key("a");
		cached.claim(key, FINGERPRINT, "owner", MINUTE);
		cached.complete(key, FINGERPRINT, "owner", response(10), MINUTE);
		cached.claim(key, FINGERPRINT, "reader", MINUTE);
		this.claims.set(0);

		assertThat(cached.claim(key, FINGERPRINT, "rival", MINUTE)).is(Samples.completed(response(10)));
		assertThat(this.claims).hasValue(0);
	}

	@Test
	void cachesAKeyThatAnotherInstanceHasCompleted() {
		IdempotencyKey key = key("a");
		this.store.complete(key, FINGERPRINT, "elsewhere", response(10), MINUTE);
		IdempotencyStore cached = cached(1_000_000, MINUTE);
		assertThat(cached.claim(key, FINGERPRINT, "one", MINUTE)).isInstanceOf(Claim.Completed.class);
		assertThat(cached.claim(key, FINGERPRINT, "two", MINUTE)).isInstanceOf(Claim.Completed.class);
		assertThat(this.claims).hasValue(1);
	}

	@Test
	void letsTheStoreDecideOnAnotherFingerprint() {
		IdempotencyStore cached = cached(1_000_000, MINUTE);
		IdempotencyKey key = key("a");
		cached.complete(key, FINGERPRINT, "owner", response(10), MINUTE);
		assertThat(cached.claim(key, OTHER, "rival", MINUTE)).isEqualTo(new Claim.Mismatched(null));
		assertThat(cached.claim(key, new Fingerprint(0, "x"), "rival", MINUTE)).isInstanceOf(Claim.Completed.class);
	}

	@Test
	void cachesNoKeyThatCanStillChange() {
		IdempotencyStore cached = cached(1_000_000, MINUTE);
		IdempotencyKey key = key("a");
		assertThat(cached.claim(key, FINGERPRINT, "owner", MINUTE)).isEqualTo(new Claim.Acquired());
		assertThat(cached.claim(key, FINGERPRINT, "rival", MINUTE)).isInstanceOf(Claim.Pending.class);
		assertThat(cached.renew(key, "owner", MINUTE)).isTrue();
		assertThat(cached.release(key, "owner")).isTrue();
		assertThat(cached.claim(key, FINGERPRINT, "rival", MINUTE)).isEqualTo(new Claim.Acquired());
		assertThat(cached.complete(key, FINGERPRINT, "owner", response(10), MINUTE)).isFalse();
		assertThat(cached.claim(key, FINGERPRINT, "third", MINUTE)).isInstanceOf(Claim.Pending.class);
	}

	@Test
	void forgetsAKeyWhenItsTimeToLiveOrItsRetentionEnds() {
		IdempotencyKey key = key("a");
		IdempotencyStore shortLived = cached(1_000_000, Duration.ofMillis(50));
		shortLived.complete(key, FINGERPRINT, "owner", response(10), MINUTE);
		shortLived.claim(key, FINGERPRINT, "reader", MINUTE);
		this.store.forget(key);
		await().until(() -> shortLived.claim(key, FINGERPRINT, "rival", MINUTE) instanceof Claim.Acquired);

		IdempotencyKey other = key("b");
		IdempotencyStore longLived = cached(1_000_000, MINUTE);
		longLived.complete(other, FINGERPRINT, "owner", response(10), Duration.ofMillis(50));
		// The retention may have ended by now; then the rival itself has acquired the
		// key.
		longLived.claim(other, FINGERPRINT, "rival", MINUTE);
		await().until(() -> longLived.claim(other, FINGERPRINT, "rival", MINUTE) instanceof Claim.Acquired);
	}

	@Test
	void forgetsACompletedKeyTogetherWithTheStore() {
		IdempotencyStore cached = cached(1_000_000, MINUTE);
		IdempotencyKey key = key("a");
		cached.complete(key, FINGERPRINT, "owner", response(10), MINUTE);
		cached.claim(key, FINGERPRINT, "reader", MINUTE);
		assertThat(cached.forget(key, "other")).isFalse();
		assertThat(cached.claim(key, FINGERPRINT, "rival", MINUTE)).is(Samples.completed(response(10)));
		assertThat(cached.forget(key, "owner")).isTrue();
		assertThat(cached.claim(key, FINGERPRINT, "rival", MINUTE)).isEqualTo(new Claim.Acquired());
	}

	@Test
	void staysWithinItsMemoryLimit() {
		IdempotencyStore cached = cached(100_000, MINUTE);
		for (int i = 0; i < 1000; i++) {
			cached.complete(key("key" + i), FINGERPRINT, "owner", response(10_000), MINUTE);
			cached.claim(key("key" + i), FINGERPRINT, "reader", MINUTE);
		}
		await().untilAsserted(() -> {
			this.claims.set(0);
			for (int i = 0; i < 1000; i++) {
				cached.claim(key("key" + i), FINGERPRINT, "rival", MINUTE);
			}
			assertThat(this.claims.get()).isGreaterThanOrEqualTo(990);
		});
	}

	private IdempotencyStore cached(long bytes, Duration timeToLive) {
		return new CachingIdempotencyStore(new CountingStore(this.store, this.claims), bytes, timeToLive);
	}

	private static IdempotencyKey key(String key) {
		return IdempotencyKey.of(IdempotencyKey.Kind.HEADER, "test", "", "", key);
	}

	private static StoredResponse response(int size) {
		return StoredResponse.of(new byte[size]);
	}

	private static final class CountingStore extends ForwardingStore {

		private final IdempotencyStore store;

		private final AtomicInteger claims;

		private CountingStore(IdempotencyStore store, AtomicInteger claims) {
			this.store = store;
			this.claims = claims;
		}

		@Override
		protected IdempotencyStore target() {
			return this.store;
		}

		@Override
		public Claim claim(IdempotencyKey key, Fingerprint fingerprint, String token, Duration lease) {
			this.claims.incrementAndGet();
			return super.claim(key, fingerprint, token, lease);
		}

	}

	/**
	 * Tests for {@link CachingIdempotencyStore} against the contract of all stores.
	 */
	@Nested
	class Contract extends IdempotencyStoreContract {

		private final IdempotencyStore store = new CachingIdempotencyStore(
				new InMemoryIdempotencyStore(InstantSource.system()), 100_000_000, Duration.ofMinutes(1));

		@Override
		public IdempotencyStore store() {
			return this.store;
		}

	}

}
