package dev.idempotent.aop;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;

import dev.idempotent.idempotency.Claim;
import dev.idempotent.idempotency.Fingerprint;
import dev.idempotent.idempotency.ForwardingStore;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.IdempotencyStore;
import dev.idempotent.idempotency.StoredResponse;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Records the state of the database at each call.
 */
public class ProbedStore extends ForwardingStore {

	private final IdempotencyStore store;

	private final Outside outside;

	private final List<String> claims = new CopyOnWriteArrayList<>();

	private final AtomicInteger claimsInTransaction = new AtomicInteger();

	private final List<List<String>> completions = new CopyOnWriteArrayList<>();

	private final List<String> releases = new CopyOnWriteArrayList<>();

	ProbedStore(IdempotencyStore store, Outside outside) {
		this.store = store;
		this.outside = outside;
	}

	@Override
	protected IdempotencyStore target() {
		return this.store;
	}

	/**
	 * The thread of each claim.
	 */
	List<String> claims() {
		return this.claims;
	}

	int claimsInTransaction() {
		return this.claimsInTransaction.get();
	}

	/**
	 * The effects that were committed at each completion.
	 */
	List<List<String>> completions() {
		return this.completions;
	}

	/**
	 * The thread of each release.
	 */
	List<String> releases() {
		return this.releases;
	}

	@Override
	public Claim claim(IdempotencyKey key, Fingerprint fingerprint, String token, Duration lease) {
		this.claims.add(Thread.currentThread().getName());
		if (TransactionSynchronizationManager.isActualTransactionActive()) {
			this.claimsInTransaction.incrementAndGet();
		}
		return super.claim(key, fingerprint, token, lease);
	}

	@Override
	public boolean complete(IdempotencyKey key, Fingerprint fingerprint, String token, StoredResponse response,
			Duration retention) {
		this.completions.add(this.outside.effects());
		return super.complete(key, fingerprint, token, response, retention);
	}

	@Override
	public boolean release(IdempotencyKey key, String token) {
		this.releases.add(Thread.currentThread().getName());
		return super.release(key, token);
	}

}
