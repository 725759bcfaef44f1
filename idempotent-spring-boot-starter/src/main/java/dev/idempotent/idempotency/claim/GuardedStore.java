package dev.idempotent.idempotency.claim;

import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;

import dev.idempotent.idempotency.Claim;
import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.IdempotencyObserver;
import dev.idempotent.idempotency.IdempotencyObserver.StoreResult;
import dev.idempotent.idempotency.IdempotencyObserver.StoreVerb;
import dev.idempotent.idempotency.IdempotencyStore;
import dev.idempotent.idempotency.IdempotencyStore.Renewal;
import dev.idempotent.idempotency.IdempotencyStoreUnavailableException;
import dev.idempotent.idempotency.OnStoreFailure;
import dev.idempotent.idempotency.StoredKey;
import dev.idempotent.idempotency.StoredResponse;
import dev.idempotent.work.OutageLog;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A store in one of two roles: it decides on keys, or it refuses duplicates in front of
 * the database that decides. Logs each outage once.
 */
final class GuardedStore {

	private static final Logger logger = LoggerFactory.getLogger(GuardedStore.class);

	private final IdempotencyStore store;

	private final OnStoreFailure onFailure;

	private final boolean decides;

	private final Outage outage;

	private final IdempotencyObserver observer;

	private GuardedStore(IdempotencyStore store, OnStoreFailure onFailure, boolean decides, Outage outage,
			IdempotencyObserver observer) {
		this.store = store;
		this.onFailure = onFailure;
		this.decides = decides;
		this.outage = outage;
		this.observer = observer;
	}

	static GuardedStore deciding(IdempotencyStore store, OnStoreFailure onFailure, IdempotencyObserver observer) {
		return new GuardedStore(store, onFailure, true, new Outage(log(store, onFailure)), observer);
	}

	/**
	 * The same store in front of a database; {@link NoOpIdempotencyStore} if the store is
	 * that database itself.
	 */
	GuardedStore inFrontOfDatabase() {
		if (!this.store.isDatabase()) {
			return new GuardedStore(this.store, this.onFailure, false, this.outage, this.observer);
		}
		IdempotencyStore none = new NoOpIdempotencyStore();
		return new GuardedStore(none, this.onFailure, false, new Outage(log(none, this.onFailure)),
				new ObserverList(List.of()));
	}

	Claim claim(ClaimRequest request) {
		return guarded(StoreVerb.CLAIM,
				() -> this.store.claim(request.key(), request.fingerprint(), request.token(), request.lease()));
	}

	boolean complete(ClaimRequest request, StoredResponse response, Duration retention) {
		return guarded(StoreVerb.COMPLETE,
				() -> this.store.complete(request.key(), request.fingerprint(), request.token(), response, retention));
	}

	boolean release(ClaimRequest request) {
		return guarded(StoreVerb.RELEASE, () -> this.store.release(request.key(), request.token()));
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

	boolean renew(ClaimRequest request) {
		boolean renewed = guarded(StoreVerb.RENEW,
				() -> this.store.renew(request.key(), request.token(), request.lease()));
		if (renewed) {
			this.observer.leasesRenewed(1);
		}
		return renewed;
	}

	Set<Renewal> renewAll(List<Renewal> renewals) {
		Set<Renewal> renewed = observed(StoreVerb.RENEW, () -> this.store.renewAll(renewals));
		if (!renewed.isEmpty()) {
			this.observer.leasesRenewed(renewed.size());
		}
		return renewed;
	}

	/**
	 * Reports that the claim was lost before it was settled.
	 */
	void leaseLost(ClaimRequest request) {
		this.observer.leaseLost(request.key());
	}

	/**
	 * Returns whether many leases can be renewed in one step.
	 */
	boolean renewsAll() {
		return this.store.isDatabase();
	}

	/**
	 * Returns whether the store decides on keys, and not a database behind it.
	 */
	boolean decides() {
		return this.decides;
	}

	/**
	 * Returns whether work may run while the store is unreachable.
	 */
	boolean isDispensable() {
		return !this.decides || this.onFailure == OnStoreFailure.PROCEED;
	}

	/**
	 * Returns whether to skip the store now, because it is known to be unreachable and a
	 * database decides.
	 */
	boolean isSkipped() {
		return !this.decides && this.outage.isOpen();
	}

	/**
	 * Returns whether there is a store that remembers claims.
	 */
	boolean remembersClaims() {
		return !(this.store instanceof NoOpIdempotencyStore);
	}

	String describe() {
		return this.store.describe();
	}

	private <T> T guarded(StoreVerb verb, Supplier<T> step) {
		long start = System.nanoTime();
		boolean write = verb == StoreVerb.CLAIM || verb == StoreVerb.COMPLETE;
		try {
			T reply = observed(verb, step);
			this.outage.end(start, write);
			return reply;
		}
		catch (IdempotencyStoreUnavailableException ex) {
			this.outage.begin(start, write, ex);
			throw ex;
		}
	}

	private <T> T observed(StoreVerb verb, Supplier<T> step) {
		long start = System.nanoTime();
		StoreResult result = StoreResult.FAILED;
		try {
			T reply = step.get();
			result = StoreResult.ANSWERED;
			return reply;
		}
		catch (IdempotencyStoreUnavailableException ex) {
			result = StoreResult.UNAVAILABLE;
			throw ex;
		}
		finally {
			this.observer.storeCalled(describe(), verb, result, Duration.ofNanos(System.nanoTime() - start));
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
