package dev.idempotent.idempotency.engine;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;

import dev.idempotent.idempotency.Claim;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.IdempotencyObserver.StoreVerb;
import dev.idempotent.idempotency.IdempotencyStore;
import dev.idempotent.idempotency.IdempotencyStore.Renewal;
import dev.idempotent.idempotency.IdempotencyStoreUnavailableException;
import dev.idempotent.idempotency.OnStoreFailure;
import dev.idempotent.idempotency.StoredKey;
import dev.idempotent.idempotency.StoredResponse;
import dev.idempotent.concurrent.OutageLog;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The store, whose calls are observed. Each outage is logged once, and callers can skip
 * the store meanwhile.
 */
final class ObservedStore {

	private static final Logger logger = LoggerFactory.getLogger(ObservedStore.class);

	private static final long PROBE_NANOS = Duration.ofSeconds(1).toNanos();

	private final IdempotencyStore store;

	private final OnStoreFailure onFailure;

	private final ObserverList observers;

	private final OutageLog outage;

	private final AtomicLong nextProbe = new AtomicLong();

	private volatile boolean outageOfWrites;

	ObservedStore(IdempotencyStore store, OnStoreFailure onFailure, ObserverList observers) {
		this.store = store;
		this.onFailure = onFailure;
		this.observers = observers;
		this.outage = log(store, onFailure);
	}

	Claim claim(ClaimRequest request) {
		return call(StoreVerb.CLAIM, () -> this.store.claim(request.key(), request.fingerprint(), request.token(),
				request.lease(), request.run()));
	}

	boolean complete(ClaimRequest request, StoredResponse response, Duration retention) {
		return call(StoreVerb.COMPLETE,
				() -> this.store.complete(request.key(), request.fingerprint(), request.token(), response, retention));
	}

	boolean release(IdempotencyKey key, String token) {
		return call(StoreVerb.RELEASE, () -> this.store.release(key, token));
	}

	boolean renew(ClaimRequest request) {
		boolean renewed = call(StoreVerb.RENEW,
				() -> this.store.renew(request.key(), request.token(), request.lease()));
		if (renewed) {
			this.observers.leasesRenewed(1);
		}
		return renewed;
	}

	Set<Renewal> renewAll(List<Renewal> renewals) {
		Set<Renewal> renewed = this.observers.observe(describe(), StoreVerb.RENEW, () -> this.store.renewAll(renewals));
		if (!renewed.isEmpty()) {
			this.observers.leasesRenewed(renewed.size());
		}
		return renewed;
	}

	/**
	 * Makes PENDING keys known to operators. An outage is neither begun nor ended by it.
	 */
	void announce(Map<IdempotencyKey, Duration> pending) {
		this.store.announce(pending);
	}

	/**
	 * Looks a key up.
	 * @throws UnsupportedOperationException if the store cannot
	 */
	@Nullable StoredKey find(IdempotencyKey key) {
		return this.store.find(key);
	}

	/**
	 * Deletes a COMPLETED key that the token has completed.
	 * @throws UnsupportedOperationException if the store cannot
	 */
	boolean forget(IdempotencyKey key, String token) {
		return this.store.forget(key, token);
	}

	/**
	 * Reports that a claim was lost before it was settled.
	 */
	void leaseLost(IdempotencyKey key) {
		this.observers.leaseLost(key);
	}

	/**
	 * Returns whether the store is the database that decides under
	 * {@code Guarantee.TRANSACTION}, which can renew many leases in one step.
	 */
	boolean isDatabase() {
		return this.store.isDatabase();
	}

	/**
	 * Returns whether work may run while the store is unreachable.
	 */
	boolean isDispensable() {
		return this.onFailure == OnStoreFailure.PROCEED;
	}

	/**
	 * Returns whether the last call that waited for the store has failed.
	 */
	boolean isInOutage() {
		return this.outage.isOpen();
	}

	/**
	 * Returns whether the store is known to be unreachable: {@code false} for one caller
	 * per second during an outage, which then probes the store.
	 */
	boolean isUnreachable() {
		if (!this.outage.isOpen()) {
			return false;
		}
		long now = System.nanoTime();
		long due = this.nextProbe.get();
		return now - due < 0 || !this.nextProbe.compareAndSet(due, now + PROBE_NANOS);
	}

	String describe() {
		return this.store.describe();
	}

	private <T> T call(StoreVerb verb, Supplier<T> step) {
		long start = System.nanoTime();
		// Needs a server that accepts writes, and its replicas if the store waits for
		// them.
		boolean write = verb == StoreVerb.CLAIM || verb == StoreVerb.COMPLETE;
		try {
			T reply = this.observers.observe(describe(), verb, step);
			endOutage(start, write);
			return reply;
		}
		catch (IdempotencyStoreUnavailableException ex) {
			this.nextProbe.set(System.nanoTime() + PROBE_NANOS);
			this.outageOfWrites |= write;
			this.outage.failed(start, ex);
			throw ex;
		}
	}

	/**
	 * A call that does not write does not end an outage of writes: otherwise each request
	 * would begin and end another outage.
	 */
	private void endOutage(long start, boolean write) {
		if (this.outage.isOpen() && (write || !this.outageOfWrites)) {
			this.outage.succeeded(start);
			if (!this.outage.isOpen()) {
				this.outageOfWrites = false;
			}
		}
	}

	private static OutageLog log(IdempotencyStore store, OnStoreFailure onFailure) {
		String subject = "The idempotency store (" + store.describe() + ") is ";
		String requests = (onFailure == OnStoreFailure.PROCEED)
				? "run unprotected (idempotent.on-store-failure=proceed)"
				: "are refused with 503 (idempotent.on-store-failure=reject)";
		String transactions = store.isDatabase() ? "" : ", and under Guarantee.TRANSACTION the database decides alone";
		return new OutageLog(logger,
				subject + "unreachable; until it is reachable again, requests with a key " + requests + transactions,
				subject + "reachable again");
	}

}
