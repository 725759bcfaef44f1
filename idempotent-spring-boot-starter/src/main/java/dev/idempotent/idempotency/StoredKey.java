package dev.idempotent.idempotency;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

/**
 * A key that is claimed or completed, as found by {@link IdempotencyStore#find}.
 *
 * @param state the state
 * @param token the token that owns the key or has completed it
 * @param remaining how long the lease or the retention lasts from now on; zero or more
 * @param response the stored response of a completed key; {@code null} for a pending one
 * @param run what runs under a pending key; {@code null} for a completed one, or if it
 * was claimed without a description
 */
public record StoredKey(State state, String token, Duration remaining, @Nullable StoredResponse response,
		@Nullable RunDescription run) {

	/**
	 * Creates a claimed key.
	 * @param token the token that owns it
	 * @param lease how long the claim holds unless renewed; zero or more
	 * @param run what runs under it, or {@code null} if that is unknown
	 * @return the key
	 */
	public static StoredKey pending(String token, Duration lease, @Nullable RunDescription run) {
		return new StoredKey(State.PENDING, token, lease, null, run);
	}

	/**
	 * Creates a completed key.
	 * @param token the token that has completed it
	 * @param retention how long the response is kept; zero or more
	 * @param response the stored response
	 * @return the key
	 */
	public static StoredKey completed(String token, Duration retention, StoredResponse response) {
		return new StoredKey(State.COMPLETED, token, retention, response, null);
	}

	/**
	 * Omits the token, which proves the ownership of the key.
	 */
	@Override
	public String toString() {
		return this.state + " for " + this.remaining;
	}

	/**
	 * The states of a key that is not absent.
	 */
	public enum State {

		/**
		 * Claimed: its work runs, or its owner has died.
		 */
		PENDING,

		/**
		 * Its work is done.
		 */
		COMPLETED

	}

}
