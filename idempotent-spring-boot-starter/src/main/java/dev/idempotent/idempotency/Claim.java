package dev.idempotent.idempotency;

import java.time.Duration;

/**
 * What a store answers to a claim on a key.
 */
public sealed interface Claim {

	/**
	 * The key is the claimant's: it runs the work, then completes or releases the key.
	 */
	record Acquired() implements Claim {
	}

	/**
	 * Another claimant runs the same work.
	 *
	 * @param remainingLease how long its claim holds unless renewed; zero or more
	 */
	record Pending(Duration remainingLease) implements Claim {
	}

	/**
	 * The work has been done.
	 *
	 * @param response what is kept of its answer
	 * @param remainingRetention how long it is kept from now on at most
	 */
	record Completed(StoredResponse response, Duration remainingRetention) implements Claim {
	}

	/**
	 * The key belongs to another request: the fingerprints contradict each other.
	 */
	record Mismatched() implements Claim {
	}

}
