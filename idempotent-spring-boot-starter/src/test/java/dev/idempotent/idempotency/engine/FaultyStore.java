package dev.idempotent.idempotency.engine;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

import dev.idempotent.idempotency.Claim;
import dev.idempotent.idempotency.Fingerprint;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.IdempotencyStore;
import dev.idempotent.idempotency.IdempotencyStoreUnavailableException;
import dev.idempotent.idempotency.StoredKey;
import dev.idempotent.idempotency.StoredResponse;
import org.jspecify.annotations.Nullable;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Injects faults between a guard and a store, and records the calls.
 */
final class FaultyStore implements IdempotencyStore {

	enum Verb {

		CLAIM, COMPLETE, RELEASE, RENEW, FIND, FORGET

	}

	enum Fault {

		/**
		 * The call does not reach the store.
		 */
		UNREACHABLE,

		/**
		 * The store executes the call, but its reply is lost.
		 */
		REPLY_LOST,

		/**
		 * An exception that no store should throw.
		 */
		BUG

	}

	record Call(Verb verb, IdempotencyKey key) {
	}

	private final IdempotencyStore store;

	private final List<Call> calls = new CopyOnWriteArrayList<>();

	private final Map<Verb, Fault> faults = new ConcurrentHashMap<>();

	private final Map<Verb, Fault> nextFaults = new ConcurrentHashMap<>();

	private final Map<Verb, Gate> gates = new ConcurrentHashMap<>();

	FaultyStore(IdempotencyStore store) {
		this.store = store;
	}

	@Override
	public Claim claim(IdempotencyKey key, Fingerprint fingerprint, String token, Duration lease) {
		return carryOut(Verb.CLAIM, key, () -> this.store.claim(key, fingerprint, token, lease));
	}

	@Override
	public boolean complete(IdempotencyKey key, Fingerprint fingerprint, String token, StoredResponse response,
			Duration retention) {
		return carryOut(Verb.COMPLETE, key, () -> this.store.complete(key, fingerprint, token, response, retention));
	}

	@Override
	public boolean release(IdempotencyKey key, String token) {
		return carryOut(Verb.RELEASE, key, () -> this.store.release(key, token));
	}

	@Override
	public boolean renew(IdempotencyKey key, String token, Duration lease) {
		return carryOut(Verb.RENEW, key, () -> this.store.renew(key, token, lease));
	}

	@Override
	public @Nullable StoredKey find(IdempotencyKey key) {
		return carryOut(Verb.FIND, key, () -> this.store.find(key));
	}

	@Override
	public boolean forget(IdempotencyKey key, String token) {
		return carryOut(Verb.FORGET, key, () -> this.store.forget(key, token));
	}

	/**
	 * Makes operations fail until {@link #mended()} is called.
	 */
	void failing(Fault fault, Verb... verbs) {
		for (Verb verb : verbs) {
			this.faults.put(verb, fault);
		}
	}

	/**
	 * Makes the next call of an operation fail.
	 */
	void failingOnce(Fault fault, Verb verb) {
		this.nextFaults.put(verb, fault);
	}

	void mended() {
		this.faults.clear();
		this.nextFaults.clear();
	}

	/**
	 * Blocks the next call of an operation until the gate is opened.
	 */
	Gate gateBefore(Verb verb) {
		Gate gate = new Gate(new CountDownLatch(1), new CountDownLatch(1));
		this.gates.put(verb, gate);
		return gate;
	}

	/**
	 * All calls so far, failed or not, in the order in which they ended.
	 */
	List<Call> calls() {
		return this.calls;
	}

	long count(Verb verb, IdempotencyKey key) {
		return this.calls.stream().filter(new Call(verb, key)::equals).count();
	}

	private <T extends @Nullable Object> T carryOut(Verb verb, IdempotencyKey key, Supplier<T> step) {
		Gate gate = this.gates.remove(verb);
		if (gate != null) {
			gate.pass();
		}
		Fault once = this.nextFaults.remove(verb);
		try {
			return carryOut((once != null) ? once : this.faults.get(verb), step);
		}
		finally {
			this.calls.add(new Call(verb, key));
		}
	}

	private static <T extends @Nullable Object> T carryOut(@Nullable Fault fault, Supplier<T> step) {
		if (fault == Fault.BUG) {
			throw new IllegalStateException("A bug in the store");
		}
		if (fault == Fault.UNREACHABLE) {
			throw new IdempotencyStoreUnavailableException("Not reached", new IllegalStateException("reset"));
		}
		T result = step.get();
		if (fault == Fault.REPLY_LOST) {
			throw new IdempotencyStoreUnavailableException("No reply", new IllegalStateException("time-out"));
		}
		return result;
	}

	record Gate(CountDownLatch reached, CountDownLatch opened) {

		void awaitArrival() throws InterruptedException {
			assertThat(this.reached.await(60, TimeUnit.SECONDS)).isTrue();
		}

		void open() {
			this.opened.countDown();
		}

		private void pass() {
			this.reached.countDown();
			try {
				this.opened.await();
			}
			catch (InterruptedException ex) {
				Thread.currentThread().interrupt();
			}
		}

	}

}
