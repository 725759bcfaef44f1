package dev.idempotent.idempotency;

import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicBoolean;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Lets work run under a key, on any store: hands out claimants and keeps their leases and
 * their unfinished business in the background. Safe for use by many threads.
 */
public final class IdempotencyGuard implements AutoCloseable {

	private static final Logger logger = LoggerFactory.getLogger(IdempotencyGuard.class);

	private final IdempotencyStore store;

	private final OnStoreFailure onStoreFailure;

	private final Duration maxRun;

	private final BackgroundWork background;

	private final RunningClaims running = new RunningClaims();

	private final AtomicBoolean storeDown = new AtomicBoolean();

	/**
	 * Creates a guard with threads of its own, which {@link #close()} ends.
	 * @param store where keys are kept
	 * @param onStoreFailure what a claim becomes while the store is unreachable
	 * @param maxRun how long after its claim a lease is renewed and an unstored answer
	 * tried again
	 */
	public IdempotencyGuard(IdempotencyStore store, OnStoreFailure onStoreFailure, Duration maxRun) {
		this.store = store;
		this.onStoreFailure = onStoreFailure;
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
	public Claimant claimant(IdempotencyKey key, Fingerprint fingerprint, Duration lease, Duration retention) {
		return new Claimant(this, key, fingerprint, UUID.randomUUID().toString(), lease, retention);
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

	IdempotencyStore store() {
		return this.store;
	}

	BackgroundWork background() {
		return this.background;
	}

	RunningClaims running() {
		return this.running;
	}

	Duration maxRun() {
		return this.maxRun;
	}

	boolean proceedsWithoutStore() {
		return this.onStoreFailure == OnStoreFailure.PROCEED;
	}

	void storeAnswered() {
		if (this.storeDown.get() && this.storeDown.compareAndSet(true, false)) {
			logger.info("The idempotency store ({}) answers again", storeName());
		}
	}

	void storeFailed(IdempotencyStoreUnavailableException ex) {
		if (this.storeDown.compareAndSet(false, true)) {
			logger.warn("The idempotency store ({}) is unreachable; until it answers, requests with a key {}",
					storeName(), proceedsWithoutStore() ? "run unprotected (idempotent.on-store-failure=proceed)"
							: "are refused with 503 (idempotent.on-store-failure=reject)",
					ex);
		}
	}

}
