package dev.idempotent.documentation.example;

import dev.idempotent.idempotency.IdempotencyStore;
import dev.idempotent.test.IdempotencyStoreContract;
import dev.idempotent.test.InMemoryIdempotencyStore;

class OwnStoreTests extends IdempotencyStoreContract {

	private final IdempotencyStore store = new InMemoryIdempotencyStore();

	@Override
	public IdempotencyStore store() {
		return this.store;
	}

}
