package dev.idempotent.idempotency;

import java.time.InstantSource;

import dev.idempotent.test.InMemoryIdempotencyStore;

/**
 * Fuzzes {@link InMemoryIdempotencyStore}, and with it the fuzz itself.
 */
class InMemoryIdempotencyStoreFuzzTests extends IdempotencyStoreFuzz {

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
