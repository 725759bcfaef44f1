package dev.idempotent.idempotency.claim;

import java.time.Duration;

import dev.idempotent.idempotency.Fingerprint;
import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.IdempotencyStore;
import dev.idempotent.idempotency.OnStoreFailure;

/**
 * Lets work run under a key, on any store: hands out claimants and keeps their leases and
 * their unfinished business in the background. Safe for use by many threads.
 */
public final class IdempotencyGuard implements AutoCloseable {

	private final GuardedStore store;

	private final GuardedStore front;

	private final Outage databaseOutage = new Outage();

	private final RunningClaims running = new RunningClaims();

	private final BackgroundWork background;

	private final LeaseRenewals renewals;

	/**
	 * Creates a guard with threads of its own, which {@link #close()} ends.
	 * @param store where keys are kept
	 * @param onStoreFailure what a claim becomes while the store is unreachable
	 * @param maxRun how long after its claim a lease is renewed and an unstored answer
	 * tried again
	 */
	public IdempotencyGuard(IdempotencyStore store, OnStoreFailure onStoreFailure, Duration maxRun) {
		this.store = GuardedStore.deciding(store, onStoreFailure);
		this.front = this.store.inFrontOfDatabase();
		this.background = new BackgroundWork(maxRun);
		this.renewals = new LeaseRenewals(this.background, maxRun);
	}

	/**
	 * Names a claimant of a key, with a token of its own. Nothing is asked of the store
	 * yet.
	 * @param key the key to claim
	 * @param fingerprint what the request asks for
	 * @param lease how long the claim holds if this process falls silent
	 * @param retention how long the answer is kept
	 * @return the claimant
	 */
	public Claimant claimant(IdempotencyKey key, Fingerprint fingerprint, Duration lease, Duration retention) {
		return claimant(this.store, ClaimRequest.of(key, fingerprint, lease, retention));
	}

	/**
	 * Names a claimant of a key under {@link Guarantee#TRANSACTION}: the database has the
	 * last word, and the store in front of it keeps duplicates away.
	 * @param key the key to claim
	 * @param fingerprint what the request asks for
	 * @param lease how long the claim holds if this process falls silent
	 * @param retention how long the answer is kept
	 * @param transactions the transactions of the operation
	 * @return the claimant
	 */
	public TransactionalClaimant claimant(IdempotencyKey key, Fingerprint fingerprint, Duration lease,
			Duration retention, IdempotencyTransactions transactions) {
		return new TransactionalClaimant(ClaimRequest.of(key, fingerprint, lease, retention),
				(request) -> claimant(this.front, request), this.running,
				new GuardedTransactions(transactions, this.databaseOutage));
	}

	/**
	 * What the store is called in messages.
	 * @return a short name
	 */
	public String storeName() {
		return this.store.describe();
	}

	/**
	 * Tries once more to store the answers that are still waiting for the store, then
	 * ends the background threads. Leases that are still held run out by themselves.
	 */
	@Override
	public void close() {
		this.background.close();
	}

	private LeaseClaimant claimant(GuardedStore asked, ClaimRequest request) {
		return new LeaseClaimant(request, asked, this.background, this.running, this.renewals);
	}

}
