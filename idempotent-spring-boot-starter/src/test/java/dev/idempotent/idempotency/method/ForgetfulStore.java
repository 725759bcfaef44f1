package dev.idempotent.idempotency.method;

import java.time.InstantSource;

import dev.idempotent.idempotency.ForwardingStore;
import dev.idempotent.idempotency.IdempotencyStore;
import dev.idempotent.test.InMemoryIdempotencyStore;

/**
 * A store in memory that can be wiped.
 */
public final class ForgetfulStore extends ForwardingStore {

	private volatile IdempotencyStore store = new InMemoryIdempotencyStore(InstantSource.system());

	public void forget() {
		this.store = new InMemoryIdempotencyStore(InstantSource.system());
	}

	/**
	 * Takes the keys of another store, as a later release of an application does.
	 */
	public void shareWith(ForgetfulStore other) {
		this.store = other.store;
	}

	@Override
	protected IdempotencyStore target() {
		return this.store;
	}

}
