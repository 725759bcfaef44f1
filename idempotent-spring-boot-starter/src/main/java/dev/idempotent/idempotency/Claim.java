package dev.idempotent.idempotency;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

/**
 * The outcome of a claim on a key. Code that decides on it treats every outcome that it
 * does not name as one that allows nothing.
 */
public sealed interface Claim {

	/**
	 * Returns whether the caller may run the work. Every other outcome forbids it,
	 * including ones that are added later.
	 * @return {@code true} for {@link Acquired} only
	 */
	default boolean isAcquired() {
		return this instanceof Acquired;
	}

	/**
	 * Returns whether another claimant runs the same work.
	 * @return {@code true} for {@link Pending} only
	 */
	default boolean isPending() {
		return this instanceof Pending;
	}

	/**
	 * Returns whether the work has been done.
	 * @return {@code true} for {@link Completed} only
	 */
	default boolean isCompleted() {
		return this instanceof Completed;
	}

	/**
	 * The claimant owns the key: it runs the work, then completes or releases the key.
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
	 * @param response the stored response
	 * @param remainingRetention how long it is kept from now on at most
	 */
	record Completed(StoredResponse response, Duration remainingRetention) implements Claim {
	}

	/**
	 * The key was used for another request: the fingerprints contradict each other.
	 *
	 * @param remainingLease how long the claim of the other request holds unless renewed,
	 * if its work is not known to be done; {@code null} if it is done
	 */
	record Mismatched(@Nullable Duration remainingLease) implements Claim {
	}

}
