package dev.idempotent.idempotency.claim;

import java.time.Duration;

import dev.idempotent.idempotency.Claim;
import dev.idempotent.idempotency.IdempotencyContext;
import dev.idempotent.idempotency.IdempotencyStoreException;
import dev.idempotent.idempotency.IdempotencyStoreUnavailableException;
import dev.idempotent.idempotency.OnStoreFailure;
import dev.idempotent.idempotency.StoredResponse;

/**
 * Claims one key for one run of its work. An acquired claim is settled once, by
 * {@link #complete} or {@link #release}; its lease is renewed until then.
 */
public interface Claimant {

	/**
	 * Claims the key.
	 * @return the outcome; {@link Claim.Acquired} under {@link OnStoreFailure#PROCEED}
	 * while the store is unreachable
	 * @throws IdempotencyStoreUnavailableException if the store or database that decides
	 * is unreachable; a claim that it may have granted is released once it is reachable
	 * again
	 * @throws IdempotencyStoreException if the key cannot be used
	 */
	Claim claim();

	/**
	 * Claims the key, and waits while another claimant runs the same work.
	 * @param timeout how long to wait at most
	 * @return the outcome; {@link Claim.Pending} if the work still runs after that time,
	 * or if too many callers wait already
	 * @throws IdempotencyStoreException as {@link #claim()} does
	 */
	Claim claimOrWait(Duration timeout);

	/**
	 * Creates the context in which the work runs. To be called once the key is claimed.
	 * @return a new context at each call
	 */
	IdempotencyContext context();

	/**
	 * Stores the response for retries. Never throws: while the store is unreachable the
	 * lease is renewed and the response stored in the background, or at least the fact
	 * that the work was done.
	 * @param response the response
	 */
	void complete(StoredResponse response);

	/**
	 * Frees the key, so that a retry runs. Never throws: while the store is unreachable
	 * the key is freed in the background, or by the end of its lease.
	 */
	void release();

	/**
	 * Stops renewing the lease without settling the claim, for work whose end may not be
	 * detected.
	 */
	void stopRenewal();

	/**
	 * Settles the claim of work that may have been committed. Under a lease alone, the
	 * key stays claimed until its lease expires; otherwise the next claim finds the
	 * outcome in the database.
	 */
	void settleUnknown();

}
