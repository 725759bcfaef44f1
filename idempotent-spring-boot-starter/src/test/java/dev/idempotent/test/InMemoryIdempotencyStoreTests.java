package dev.idempotent.test;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.concurrent.atomic.AtomicReference;

import dev.idempotent.idempotency.AbstractIdempotencyStoreFuzzTests;
import dev.idempotent.idempotency.Claim;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.IdempotencyStore;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link InMemoryIdempotencyStore}.
 */
class InMemoryIdempotencyStoreTests extends IdempotencyStoreContract {

	private final InMemoryIdempotencyStore store = new InMemoryIdempotencyStore(InstantSource.system());

	@Override
	public IdempotencyStore store() {
		return this.store;
	}

	@Test
	void usesTheGivenClock() {
		AtomicReference<Instant> now = new AtomicReference<>(Instant.EPOCH);
		InMemoryIdempotencyStore timed = new InMemoryIdempotencyStore(now::get);
		IdempotencyKey key = uniqueKey();
		timed.claim(key, fingerprint("request"), "owner", Duration.ofSeconds(30));
		now.set(Instant.EPOCH.plusSeconds(30).minusNanos(1));
		assertThat(timed.claim(key, fingerprint("request"), "rival", Duration.ofSeconds(30)))
			.isEqualTo(new Claim.Pending(Duration.ofNanos(1)));
		now.set(Instant.EPOCH.plusSeconds(30));
		assertThat(timed.claim(key, fingerprint("request"), "rival", Duration.ofSeconds(30)))
			.isEqualTo(new Claim.Acquired());
	}

	@Test
	void forgetsAKeyOnRequest() {
		IdempotencyKey key = uniqueKey();
		this.store.claim(key, fingerprint("request"), "owner", Duration.ofMinutes(1));
		this.store.forget(key);
		assertThat(this.store.renew(key, "owner", Duration.ofMinutes(1))).isFalse();
	}

	/**
	 * Fuzzes {@link InMemoryIdempotencyStore}, and with it the fuzz itself.
	 */
	@Nested
	class Fuzz extends AbstractIdempotencyStoreFuzzTests {

		private final InMemoryIdempotencyStore store = new InMemoryIdempotencyStore(InstantSource.system());

		@Override
		protected IdempotencyStore store() {
			return this.store;
		}

		@Override
		protected void forget(IdempotencyKey key) {
			this.store.forget(key);
		}

	}

}
