package dev.idempotent.idempotency.claim;

import java.time.Duration;

import dev.idempotent.idempotency.Fingerprint;
import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.IdempotencyStore;
import dev.idempotent.idempotency.OnStoreFailure;
import dev.idempotent.outage.OutageLog;

/**
 * Creates the claimants of keys on one store. Their leases are renewed and their
 * unfinished steps retried in the background. Thread-safe.
 */
public final class IdempotencyGuard implements AutoCloseable {

	private final GuardedStore store;

	private final GuardedStore storeInFront;

	private final OutageLog databaseOutage = GuardedTransactions.log();

	private final RunningClaims running = new RunningClaims();

	private final BackgroundWork background;

	private final LeaseRenewals renewals;

	/**
	 * Creates a guard with its own threads, which {@link #close()} stops.
	 * @param store stores the keys
	 * @param onStoreFailure how to handle a claim while the store is unreachable
	 * @param maxRun how long after a claim its lease is renewed, and how long storing a
	 * response is retried
	 */
	public IdempotencyGuard(IdempotencyStore store, OnStoreFailure onStoreFailure, Duration maxRun) {
		this.store = GuardedStore.deciding(store, onStoreFailure);
		this.storeInFront = this.store.inFrontOfDatabase();
		this.background = new BackgroundWork(maxRun);
		this.renewals = new LeaseRenewals(this.background, maxRun);
	}

	/**
	 * Creates a claimant of a key with a new token. The store is not called yet.
	 * @param key the key to claim
	 * @param fingerprint the fingerprint of the request
	 * @param lease how long the claim holds if this process dies
	 * @param retention how long the response is kept
	 * @return the claimant
	 */
	public Claimant claimant(IdempotencyKey key, Fingerprint fingerprint, Duration lease, Duration retention) {
		return claimant(this.store, ClaimRequest.of(key, fingerprint, lease, retention));
	}

	/**
	 * Creates a claimant of a key under {@link Guarantee#TRANSACTION}: the database
	 * decides, and the store in front of it refuses duplicates.
	 * @param key the key to claim
	 * @param fingerprint the fingerprint of the request
	 * @param lease how long the claim holds if this process dies
	 * @param retention how long the response is kept
	 * @param transactions the transactions of the operation
	 * @return the claimant
	 */
	public TransactionalClaimant claimant(IdempotencyKey key, Fingerprint fingerprint, Duration lease,
			Duration retention, IdempotencyTransactions transactions) {
		return new TransactionalClaimant(ClaimRequest.of(key, fingerprint, lease, retention),
				(request) -> claimant(this.storeInFront, request), this.running,
				new GuardedTransactions(transactions, this.databaseOutage));
	}

	/**
	 * The name of the store in messages.
	 * @return a short name
	 */
	public String storeName() {
		return this.store.describe();
	}

	/**
	 * Returns whether the keys are in the database that also has the records of
	 * {@link Guarantee#TRANSACTION}.
	 * @return {@code false} for a store in front of the database
	 */
	public boolean storesInDatabase() {
		return this.store.renewsAll();
	}

	/**
	 * Tries once more to store the responses that are still waiting for the store, then
	 * stops the background threads. Leases that are still held expire.
	 */
	@Override
	public void close() {
		this.background.close();
	}

	private LeaseClaimant claimant(GuardedStore asked, ClaimRequest request) {
		return new LeaseClaimant(request, asked, this.background, this.running, this.renewals);
	}

}
