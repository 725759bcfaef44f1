package dev.idempotent.idempotency.engine;

import dev.idempotent.idempotency.Claim;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.IdempotencyPendingException;
import dev.idempotent.idempotency.IdempotencyStoreUnavailableException;
import dev.idempotent.idempotency.StoredResponse;

import java.nio.charset.StandardCharsets;
import java.time.Duration;

/**
 * The keys from which runs whose key is a fingerprint derive the keys of their calls and
 * sagas. The runs of one request and its retries have the same one; an equal request
 * after the retention has another one.
 * <p>
 * The first run that derives a key records its token, in the store that decides, for the
 * retention: the record of the response begins later and so ends later, and no run begins
 * before it has ended. The record outlives a run that fails or dies, and so its retry
 * reads it.
 */
final class DerivationRoots {

	private final ObservedStore store;

	DerivationRoots(ObservedStore store) {
		this.store = store;
	}

	/**
	 * Returns the key from which a run derives others.
	 * @throws IdempotencyPendingException if that is being recorded
	 * @throws IdempotencyStoreUnavailableException if the store is unreachable, and work
	 * may not run meanwhile
	 */
	IdempotencyKey of(ClaimRequest run) {
		try {
			return root(run, firstToken(run.ofRoot()));
		}
		catch (IdempotencyStoreUnavailableException ex) {
			if (!this.store.isDispensable()) {
				throw ex;
			}
			return root(run, run.token());
		}
	}

	private static IdempotencyKey root(ClaimRequest run, String firstToken) {
		return IdempotencyKey.of(IdempotencyKey.Kind.STEP, "", "root", run.key().digest(), firstToken);
	}

	/**
	 * Returns the token of the first run, which is recorded once.
	 */
	private String firstToken(ClaimRequest root) {
		StoredResponse own = StoredResponse.of(root.token().getBytes(StandardCharsets.UTF_8));
		Claim recorded = null;
		while (recorded == null || recorded.isAcquired()) {
			if (this.store.complete(root, own, root.retention())) {
				return root.token();
			}
			// Acquired if the record has just expired.
			recorded = this.store.claim(root);
		}
		if (recorded instanceof Claim.Completed first) {
			return new String(first.response().bytes(), StandardCharsets.UTF_8);
		}
		throw new IdempotencyPendingException(root.key(),
				(recorded instanceof Claim.Pending pending) ? pending.remainingLease() : Duration.ZERO);
	}

}
