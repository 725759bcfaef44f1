package dev.idempotent.idempotency.engine;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.function.BiFunction;

import dev.idempotent.idempotency.Claim;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.IdempotencyPendingException;
import dev.idempotent.idempotency.IdempotencyStoreUnavailableException;
import dev.idempotent.idempotency.StoredResponse;

/**
 * The keys from which runs whose key is a fingerprint derive the keys of their calls and
 * sagas. The runs of one request and its retries have the same one; an equal request
 * after the retention has another one.
 * <p>
 * The first run that derives a key records its token, where the record of its response
 * will be, for the retention less the time since it has begun: so the record ends before
 * the response does, and no other run begins before that. The record outlives a run that
 * fails or dies, and its retry reads it.
 */
final class DerivationRoots {

	private final BiFunction<ClaimRequest, StoredResponse, Claim> completeIfFree;

	private final boolean dispensable;

	/**
	 * Creates the roots of runs under a lease, recorded in the store.
	 */
	DerivationRoots(ObservedStore store) {
		this.completeIfFree = (request, response) -> completeIfFree(store, request, response);
		this.dispensable = store.isDispensable();
	}

	/**
	 * Creates the roots of runs under a transaction, recorded in its database.
	 */
	DerivationRoots(OperationTransactions transactions) {
		this.completeIfFree = transactions::completeAtOnce;
		this.dispensable = false;
	}

	private static Claim completeIfFree(ObservedStore store, ClaimRequest request, StoredResponse response) {
		Claim claim = new Claim.Acquired();
		while (claim.isAcquired() && !store.complete(request, response, request.retention())) {
			// Acquired if the record has just expired.
			claim = store.claim(request);
		}
		return claim;
	}

	/**
	 * Returns the key from which a run derives others.
	 * @param elapsed the time since the run has begun
	 * @throws IdempotencyPendingException if that is being recorded
	 * @return the key of the run itself if the store is unreachable, and work may run
	 * meanwhile
	 * @throws IdempotencyStoreUnavailableException if it is unreachable, and work may not
	 */
	IdempotencyKey of(ClaimRequest run, Duration elapsed) {
		ClaimRequest root = run.ofRoot(elapsed);
		try {
			return root(run, firstToken(root));
		}
		catch (IdempotencyStoreUnavailableException ex) {
			if (!this.dispensable) {
				throw ex;
			}
			// The same one in each run of the outage.
			return run.key();
		}
	}

	private static IdempotencyKey root(ClaimRequest run, String firstToken) {
		return IdempotencyKey.of(IdempotencyKey.Kind.STEP, "", "root", run.key().digest(), firstToken);
	}

	/**
	 * Returns the token of the first run, which is recorded once.
	 */
	private String firstToken(ClaimRequest root) {
		Claim recorded = this.completeIfFree.apply(root,
				StoredResponse.of(root.token().getBytes(StandardCharsets.UTF_8)));
		if (recorded instanceof Claim.Completed first) {
			return new String(first.response().bytes(), StandardCharsets.UTF_8);
		}
		if (recorded.isAcquired()) {
			return root.token();
		}
		throw new IdempotencyPendingException(root.key(),
				(recorded instanceof Claim.Pending pending) ? pending.remainingLease() : Duration.ZERO);
	}

}
