package dev.idempotent.idempotency.caffeine;

import java.time.Duration;
import java.time.InstantSource;

import dev.idempotent.idempotency.IdempotencyStore;
import dev.idempotent.test.IdempotencyStoreContract;
import dev.idempotent.test.InMemoryIdempotencyStore;

/**
 * Tests for {@link CachingIdempotencyStore} against the contract of all stores.
 */
class CachingIdempotencyStoreContractTests extends IdempotencyStoreContract {

	private final IdempotencyStore store = new CachingIdempotencyStore(
			new InMemoryIdempotencyStore(InstantSource.system()), 100_000_000, Duration.ofMinutes(1));

	@Override
	public IdempotencyStore store() {
		return this.store;
	}

}
