package dev.idempotent.idempotency;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

/**
 * The outcome of a claim on a key. Code that decides on it names every outcome in
 * {@link #fold}, so that a new one does not compile until each decision includes it.
 */
public sealed interface Claim {

	/**
	 * Applies the function of this outcome.
	 * @param <T> the type of the result
	 * @param <X> the type of exception that the functions throw
	 * @param acquired applied if the caller may run the work
	 * @param pending applied if another claimant runs the work
	 * @param completed applied if the work has been done
	 * @param mismatched applied if the key was used for another request
	 * @return the result of the function
	 * @throws X if the function does
	 */
	<T extends @Nullable Object, X extends Throwable> T fold(Case<Acquired, T, X> acquired, Case<Pending, T, X> pending,
			Case<Completed, T, X> completed, Case<Mismatched, T, X> mismatched) throws X;

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

		@Override
		public <T extends @Nullable Object, X extends Throwable> T fold(Case<Acquired, T, X> acquired,
				Case<Pending, T, X> pending, Case<Completed, T, X> completed, Case<Mismatched, T, X> mismatched)
				throws X {
			return acquired.apply(this);
		}

	}

	/**
	 * Another claimant runs the same work.
	 *
	 * @param remainingLease how long its claim holds unless renewed; zero or more
	 */
	record Pending(Duration remainingLease) implements Claim {

		@Override
		public <T extends @Nullable Object, X extends Throwable> T fold(Case<Acquired, T, X> acquired,
				Case<Pending, T, X> pending, Case<Completed, T, X> completed, Case<Mismatched, T, X> mismatched)
				throws X {
			return pending.apply(this);
		}

	}

	/**
	 * The work has been done.
	 *
	 * @param response the stored response
	 * @param remainingRetention how long it is kept from now on at most
	 */
	record Completed(StoredResponse response, Duration remainingRetention) implements Claim {

		@Override
		public <T extends @Nullable Object, X extends Throwable> T fold(Case<Acquired, T, X> acquired,
				Case<Pending, T, X> pending, Case<Completed, T, X> completed, Case<Mismatched, T, X> mismatched)
				throws X {
			return completed.apply(this);
		}

	}

	/**
	 * The key was used for another request: the fingerprints contradict each other.
	 */
	record Mismatched() implements Claim {

		@Override
		public <T extends @Nullable Object, X extends Throwable> T fold(Case<Acquired, T, X> acquired,
				Case<Pending, T, X> pending, Case<Completed, T, X> completed, Case<Mismatched, T, X> mismatched)
				throws X {
			return mismatched.apply(this);
		}

	}

	/**
	 * A function of one outcome.
	 *
	 * @param <C> the outcome
	 * @param <T> the type of the result
	 * @param <X> the type of exception that it throws
	 */
	@FunctionalInterface
	interface Case<C extends Claim, T extends @Nullable Object, X extends Throwable> {

		/**
		 * Decides on the outcome.
		 * @param outcome the outcome
		 * @return the result
		 * @throws X if it fails
		 */
		T apply(C outcome) throws X;

	}

}
