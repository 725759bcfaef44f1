package dev.idempotent.idempotency;

import java.time.Duration;
import java.util.List;
import java.util.Set;

/**
 * Keeps the state of keys:
 * {@code absent -> PENDING(token, fingerprint, lease) -> COMPLETED(token, fingerprint, response, retention)},
 * and back to absent when a key is released or its time ends.
 * <p>
 * Each verb is one atomic step on the store's own clock and can be repeated with its
 * token, so a reply that was lost is simply asked for again. Every verb throws
 * {@link IdempotencyStoreUnavailableException} when its outcome is unknown and
 * {@link IdempotencyStoreException} when what lies under the key is not its own.
 */
public interface IdempotencyStore {

	/**
	 * The longest lease or retention that a store has to take.
	 */
	Duration MAX_DURATION = Duration.ofDays(3650);

	/**
	 * Takes an absent key, or tells who has it. The owner's own token is granted again
	 * while the key is PENDING.
	 * @param key the key
	 * @param fingerprint what the request asks for; compared in either state
	 * @param token proves who holds the key; unique to the claimant
	 * @param lease how long the claim holds, at least one millisecond
	 * @return the outcome, with all that a replay needs
	 */
	Claim claim(IdempotencyKey key, Fingerprint fingerprint, String token, Duration lease);

	/**
	 * Keeps the response of a key that the token owns, or that is absent: an expired or
	 * forgotten claim does not cost the answer.
	 * @param key the key
	 * @param fingerprint what the request asked for
	 * @param token the claimant's token
	 * @param response what to keep
	 * @param retention for how long, at least one millisecond
	 * @return {@code false} if another token owns the key, which is then left as it is
	 */
	boolean complete(IdempotencyKey key, Fingerprint fingerprint, String token, StoredResponse response,
			Duration retention);

	/**
	 * Frees a PENDING key.
	 * @param key the key
	 * @param token the claimant's token
	 * @return {@code true} if the key is free now, {@code false} if it is completed or
	 * another token owns it
	 */
	boolean release(IdempotencyKey key, String token);

	/**
	 * Lets the lease of a PENDING key start anew.
	 * @param key the key
	 * @param token the claimant's token
	 * @param lease how long the claim holds from now on, at least one millisecond
	 * @return {@code false} if the token does not hold a claim on the key
	 */
	boolean renew(IdempotencyKey key, String token, Duration lease);

	/**
	 * Renews many leases in one step. Only called on a store that {@link #isDatabase()}.
	 * @param renewals the renewals
	 * @return those that were carried out for certain; {@link #renew} is called for each
	 * of the others
	 */
	default Set<Renewal> renewAll(List<Renewal> renewals) {
		return Set.of();
	}

	/**
	 * Tells whether the keys are in the database that has the last word under
	 * {@link Guarantee#TRANSACTION}, which is then not asked twice.
	 * @return {@code false} for a store that stands in front of a database
	 */
	default boolean isDatabase() {
		return false;
	}

	/**
	 * What the store is called in messages.
	 * @return a short name such as {@code Redis}
	 */
	default String describe() {
		return getClass().getSimpleName();
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
