package dev.idempotent.idempotency;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;

import org.jspecify.annotations.Nullable;

/**
 * Stores the state of keys:
 * {@code absent -> PENDING(token, fingerprint, lease) -> COMPLETED(token, fingerprint, response, retention)},
 * and back to absent when a key is released or expires.
 * <p>
 * Each operation is one atomic step on the store's own clock. It can be repeated with the
 * same token after a lost reply. It throws {@link IdempotencyStoreUnavailableException}
 * if its outcome is unknown, and {@link IdempotencyStoreException} if the key holds data
 * that the store did not write.
 */
public interface IdempotencyStore {

	/**
	 * The longest lease or retention that a store must support.
	 */
	Duration MAX_DURATION = Duration.ofDays(3650);

	/**
	 * Claims an absent key, or reports its state. A PENDING key is granted again to the
	 * token that owns it.
	 * @param key the key
	 * @param fingerprint the fingerprint of the request; compared in either state
	 * @param token proves the ownership of the key; unique to the claimant
	 * @param lease how long the claim holds, at least one millisecond
	 * @return the outcome, with the stored response if the key is completed
	 */
	Claim claim(IdempotencyKey key, Fingerprint fingerprint, String token, Duration lease);

	/**
	 * Claims a key as {@link #claim(IdempotencyKey, Fingerprint, String, Duration)} does,
	 * and keeps what runs under it, in the same step, for {@link #find} and
	 * {@link #findPending}.
	 * @param key the key
	 * @param fingerprint the fingerprint of the request; compared in either state
	 * @param token proves the ownership of the key; unique to the claimant
	 * @param lease how long the claim holds, at least one millisecond
	 * @param run what runs under the key, which a store that cannot keep it ignores, as
	 * by default
	 * @return the outcome, with the stored response if the key is completed
	 */
	default Claim claim(IdempotencyKey key, Fingerprint fingerprint, String token, Duration lease, RunDescription run) {
		return claim(key, fingerprint, token, lease);
	}

	/**
	 * Stores the response of a key that the token owns, or that is absent because the
	 * claim has expired or was lost. A response that the token has stored before stays,
	 * and is kept for at least the retention from now on.
	 * @param key the key
	 * @param fingerprint the fingerprint of the request
	 * @param token the claimant's token
	 * @param response the response
	 * @param retention how long to keep it, at least one millisecond
	 * @return {@code false} if another token owns the key, which is then left unchanged
	 */
	boolean complete(IdempotencyKey key, Fingerprint fingerprint, String token, StoredResponse response,
			Duration retention);

	/**
	 * Frees a PENDING key.
	 * @param key the key
	 * @param token the claimant's token
	 * @return {@code true} if the key is absent now, {@code false} if it is completed or
	 * another token owns it
	 */
	boolean release(IdempotencyKey key, String token);

	/**
	 * Restarts the lease of a PENDING key.
	 * @param key the key
	 * @param token the claimant's token
	 * @param lease how long the claim holds from now on, at least one millisecond
	 * @return {@code false} if the token does not hold a claim on the key
	 */
	boolean renew(IdempotencyKey key, String token, Duration lease);

	/**
	 * Looks a key up for an operator, without waiting for locks or changing the key. A
	 * row that a running transaction has not committed is not found.
	 * @param key the key
	 * @return the key, or {@code null} if it is absent or has expired
	 * @throws UnsupportedOperationException if the store cannot look keys up, as by
	 * default
	 */
	default @Nullable StoredKey find(IdempotencyKey key) {
		throw new UnsupportedOperationException(getClass().getName() + " does not implement IdempotencyStore.find");
	}

	/**
	 * Deletes a COMPLETED key, so that its next request runs again.
	 * @param key the key
	 * @param token the token that has completed it, as {@link #find} returned it
	 * @return {@code true} if the key is absent now, {@code false} if it is pending or
	 * was completed by another token
	 * @throws UnsupportedOperationException if the store cannot delete completed keys, as
	 * by default
	 */
	default boolean forget(IdempotencyKey key, String token) {
		throw new UnsupportedOperationException(getClass().getName() + " does not implement IdempotencyStore.forget");
	}

	/**
	 * Makes PENDING keys known to {@link #findPending}, for a store that can find keys by
	 * their name only. Not called for each claim, and never before a request is answered.
	 * @param pending at least one key, and how long its claim holds at most from now on
	 */
	default void announce(Map<IdempotencyKey, Duration> pending) {
	}

	/**
	 * Lists PENDING keys for an operator, without waiting for locks: those whose leases
	 * end first. A key is only listed while a claim holds it. A row that a running
	 * transaction has not committed is not listed, and a key that was not
	 * {@linkplain #announce announced} need not be.
	 * @param atMost how many keys to read at most
	 * @return the keys, or {@code null} if the store cannot list them, as by default
	 */
	default @Nullable PendingKeys findPending(int atMost) {
		return null;
	}

	/**
	 * Counts unexpired keys for an operator.
	 * @param atMost how many keys to read at most
	 * @return the numbers, or {@code null} if the store cannot count cheaply, as by
	 * default
	 */
	default @Nullable KeyCount count(int atMost) {
		return null;
	}

	/**
	 * Renews many leases in one step. Only called on a store that {@link #isDatabase()}.
	 * @param renewals the renewals
	 * @return the renewals that are known to have succeeded; {@link #renew} is called for
	 * each of the others
	 */
	default Set<Renewal> renewAll(List<Renewal> renewals) {
		return Set.of();
	}

	/**
	 * Returns whether the keys are in the database that decides under
	 * {@link Guarantee#TRANSACTION}, which then needs no store in front of it.
	 * @return {@code false} for a store outside of that database
	 */
	default boolean isDatabase() {
		return false;
	}

	/**
	 * The name of the store in messages.
	 * @return a short name, such as {@code Redis}
	 */
	default String describe() {
		return getClass().getSimpleName();
	}

	/**
	 * The number of unexpired keys.
	 *
	 * @param pending claimed keys
	 * @param completed completed keys
	 * @param exact {@code false} if there are more keys
	 */
	record KeyCount(long pending, long completed, boolean exact) {
	}

	/**
	 * PENDING keys.
	 *
	 * @param keys the keys with their state
	 * @param within {@code null} if there are no others; else how long the leases of the
	 * listed keys last at most, while others may last longer
	 */
	record PendingKeys(Map<IdempotencyKey, StoredKey> keys, @Nullable Duration within) {
	}

	/**
	 * One renewal of many: the arguments of {@link IdempotencyStore#renew}.
	 *
	 * @param key the key
	 * @param token the claimant's token
	 * @param lease how long the claim holds from now on, at least one millisecond
	 */
	record Renewal(IdempotencyKey key, String token, Duration lease) {
	}

}
