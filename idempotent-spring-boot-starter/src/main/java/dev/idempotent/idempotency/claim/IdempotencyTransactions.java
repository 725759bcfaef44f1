package dev.idempotent.idempotency.claim;

import java.time.Duration;

import dev.idempotent.idempotency.Claim;
import dev.idempotent.idempotency.Fingerprint;
import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.IdempotencyStoreException;
import dev.idempotent.idempotency.IdempotencyStoreUnavailableException;
import org.jspecify.annotations.Nullable;

/**
 * The database transactions of one operation under {@link Guarantee#TRANSACTION}, and the
 * records that they have left. An {@link IdempotencyStoreUnavailableException} says that
 * the database did not answer, any other {@link IdempotencyStoreException} that it cannot
 * keep the key.
 */
public interface IdempotencyTransactions {

	/**
	 * Begins a transaction and claims the key in it.
	 * @param key the key
	 * @param fingerprint what the request asks for
	 * @param token the claimant's token
	 * @param lease how long the record would hold the key, were it committed unfinished
	 * @param contended whether nothing has kept duplicates away from the database, so
	 * that those who may have to wait for another transaction are few at a time
	 * @return the transaction, which is open if its claim was acquired;
	 * {@link Claim.Pending} if another transaction held the key for longer than one waits
	 */
	IdempotencyTransaction begin(IdempotencyKey key, Fingerprint fingerprint, String token, Duration lease,
			boolean contended);

	/**
	 * Looks a committed record up, without waiting for anyone.
	 * @param key the key
	 * @param fingerprint what the request asks for
	 * @return what the record says, or {@code null} if there is none
	 */
	@Nullable Claim find(IdempotencyKey key, Fingerprint fingerprint);

}
