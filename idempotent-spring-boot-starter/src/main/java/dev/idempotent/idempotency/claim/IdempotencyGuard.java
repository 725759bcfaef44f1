package dev.idempotent.idempotency.claim;

import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

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

	private final Duration maxRun;

	private final BackgroundWork background;

	private final RunningClaims running = new RunningClaims();

	private final LeaseRenewals renewals = new LeaseRenewals();

	private final Set<IdempotencyKey> deciding = ConcurrentHashMap.newKeySet();

	private final DatabaseOutage databaseOutage = new DatabaseOutage();

	/**
	 * Creates a guard with threads of its own, which {@link #close()} ends.
	 * @param store where keys are kept
	 * @param onStoreFailure what a claim becomes while the store is unreachable
	 * @param maxRun how long after its claim a lease is renewed and an unstored answer
	 * tried again
	 */
	public IdempotencyGuard(IdempotencyStore store, OnStoreFailure onStoreFailure, Duration maxRun) {
		this.store = new GuardedStore(store, onStoreFailure);
		this.front = store.isDatabase() ? new GuardedStore(new NoStore(), onStoreFailure) : this.store;
		this.maxRun = maxRun;
		this.background = new BackgroundWork(maxRun);
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
	public LeaseClaimant claimant(IdempotencyKey key, Fingerprint fingerprint, Duration lease, Duration retention) {
		return new LeaseClaimant(this, this.store, true, ClaimRequest.of(key, fingerprint, lease, retention));
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
		return new TransactionalClaimant(databaseClaimant(key, fingerprint, lease, retention, transactions));
	}

	/**
	 * Names a claimant of a key under {@link Guarantee#TRANSACTION} whose work takes part
	 * in a transaction of its caller if there is one.
	 * @param key the key to claim
	 * @param fingerprint what is asked for
	 * @param lease how long the claim holds if this process falls silent
	 * @param retention how long the answer is kept
	 * @param transactions transactions that join one that is open
	 * @return the claimant
	 */
	public JoiningClaimant joiningClaimant(IdempotencyKey key, Fingerprint fingerprint, Duration lease,
			Duration retention, IdempotencyTransactions transactions) {
		return new JoiningClaimant(databaseClaimant(key, fingerprint, lease, retention, transactions));
	}

	/**
	 * What the store is called in messages.
	 * @return a short name
	 */
	public String storeName() {
		return this.store.store().describe();
	}

	/**
	 * Tries once more to store the answers that are still waiting for the store, then
	 * ends the background threads. Leases that are still held run out by themselves.
	 */
	@Override
	public void close() {
		this.background.close();
	}

	/**
	 * The claimant that asks the store before a database decides.
	 */
	LeaseClaimant front(ClaimRequest request) {
		return new LeaseClaimant(this, this.front, false, request);
	}

	private DatabaseClaimant databaseClaimant(IdempotencyKey key, Fingerprint fingerprint, Duration lease,
			Duration retention, IdempotencyTransactions transactions) {
		return new DatabaseClaimant(this, ClaimRequest.of(key, fingerprint, lease, retention), transactions);
	}

	BackgroundWork background() {
		return this.background;
	}

	DatabaseOutage databaseOutage() {
		return this.databaseOutage;
	}

	LeaseRenewals renewals() {
		return this.renewals;
	}

	RunningClaims running() {
		return this.running;
	}

	Duration maxRun() {
		return this.maxRun;
	}

	/**
	 * The keys that this process has before the database: it asks about each but once at
	 * a time.
	 */
	Set<IdempotencyKey> deciding() {
		return this.deciding;
	}

}
