package dev.idempotent.idempotency.claim;

import java.time.Duration;

import dev.idempotent.idempotency.Claim;
import dev.idempotent.idempotency.IdempotencyContext;
import dev.idempotent.idempotency.IdempotencyStoreException;
import dev.idempotent.idempotency.IdempotencyStoreUnavailableException;

/**
 * Somebody who bids for one key, for one run of its work.
 */
public interface Claimant {

	/**
	 * Claims the key.
	 * @return the outcome
	 * @throws IdempotencyStoreUnavailableException if whoever decides on the key is
	 * unreachable; a claim that it may have taken is given back
	 * @throws IdempotencyStoreException if the key cannot be used
	 */
	Claim claim();

	/**
	 * Claims the key, and waits while another one runs the same work.
	 * @param patience how long to wait at most
	 * @return the outcome; {@link Claim.Pending} if the work still runs after that time,
	 * or if too many wait already
	 * @throws IdempotencyStoreException as {@link #claim()} does
	 */
	Claim claimOrWait(Duration patience);

	/**
	 * The context in which the work is done, once the key is claimed.
	 * @return a context of its own at each call
	 */
	IdempotencyContext context();

}
