package dev.idempotent.idempotency.claim;

import java.time.Duration;
import java.util.Objects;
import java.util.function.Function;

import dev.idempotent.idempotency.Claim;
import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.IdempotencyContext;
import dev.idempotent.idempotency.IdempotencyObserver.Outcome;
import dev.idempotent.idempotency.IdempotencyStoreException;
import dev.idempotent.idempotency.IdempotencyStoreUnavailableException;
import dev.idempotent.idempotency.StoredResponse;
import dev.idempotent.idempotency.claim.IdempotencyTransactions.Transaction;
import org.jspecify.annotations.Nullable;

/**
 * Claims a key under {@link Guarantee#TRANSACTION}: its record commits with the work. The
 * database decides; a store in front of it refuses duplicates. An acquired claim leaves a
 * transaction open and bound to the calling thread, which must use this claimant alone.
 * The transaction is ended first, by {@link #commitAndComplete}, {@link #commit} or
 * {@link #rollback}; the key in the store is then completed or released.
 */
public final class TransactionalClaimant implements Claimant {

	private final Function<ClaimRequest, StoreClaim> storeClaims;

	private final RunningClaims running;

	private final GuardedTransactions transactions;

	private final ObservedClaim observed;

	private ClaimRequest request;

	private StoreClaim storeClaim;

	private @Nullable Transaction open;

	/**
	 * The response that was committed, in its stored form.
	 */
	private @Nullable StoredResponse committed;

	private boolean reserved;

	private boolean provisional;

	/**
	 * Creates a claimant.
	 * @param storeClaims creates a claim in the store, for one attempt each
	 */
	TransactionalClaimant(ClaimRequest request, Function<ClaimRequest, StoreClaim> storeClaims, RunningClaims running,
			GuardedTransactions transactions, ObservedClaim observed) {
		this.storeClaims = storeClaims;
		this.running = running;
		this.transactions = transactions;
		this.observed = observed;
		this.request = request;
		this.storeClaim = storeClaims.apply(request);
	}

	@Override
	public Claim claim() {
		return this.observed.claim(this::claimOnce);
	}

	@Override
	public Claim claimOrWait(Duration timeout) {
		return this.observed
			.claim(() -> this.running.await(this.request.key(), claimOnce(), this::claimAgain, timeout));
	}

	@Override
	public IdempotencyContext context() {
		return this.request.context();
	}

	/**
	 * Returns whether the work has marked the transaction as rollback-only.
	 * @return whether it can only be rolled back
	 */
	public boolean isRollbackOnly() {
		return Objects.requireNonNull(this.open, "No transaction is open").isRollbackOnly();
	}

	/**
	 * Writes the response into the transaction, and commits unless a caller began it. To
	 * be followed by {@link #complete} or {@link #release} when the transaction has
	 * ended.
	 * @param response the response
	 * @throws RuntimeException if that fails: the transaction was rolled back, or its
	 * outcome is unknown until the next claim
	 */
	public void commit(StoredResponse response) {
		StoredResponse closed = closeOrRollback(response);
		Transaction ended = Objects.requireNonNull(this.open, "No transaction is open");
		this.open = null;
		this.committed = closed;
		ended.commit(closed, this.request.retention());
	}

	/**
	 * Commits the work together with its response, and completes the key in the store.
	 * After a failure the database is queried for the outcome.
	 * @param response the response
	 * @return {@code null} if it committed; after a failure the response on record, which
	 * must be sent instead
	 * @throws WorkRolledBackException if the work was rolled back; the key is still
	 * claimed in the store
	 * @throws IdempotencyStoreUnavailableException if the outcome is unknown; the key
	 * stays claimed until its lease expires
	 */
	public @Nullable StoredResponse commitAndComplete(StoredResponse response) {
		try {
			commit(response);
			complete(response);
			return null;
		}
		catch (RuntimeException | Error ex) {
			return inquire(ex, response);
		}
	}

	/**
	 * Rolls the transaction back if it is open. The key is still claimed in the store.
	 */
	public void rollback() {
		Transaction ended = this.open;
		this.open = null;
		if (ended != null) {
			ended.rollback();
		}
	}

	/**
	 * Stores the response of work that was rolled back, in a transaction of its own,
	 * unless the key has a response by now.
	 * @param response the response
	 * @return the claim on record: {@link Claim.Completed} with this or another response,
	 * or another claimant's claim
	 * @throws WorkRolledBackException if the database did not store it; the key is still
	 * claimed in the store
	 * @throws IdempotencyStoreException if the database cannot store it; the key is
	 * released, or stays claimed until its lease expires if the outcome is unknown
	 */
	public Claim completeAfterRollback(StoredResponse response) {
		Claim claim = claimAfterRollback();
		if (!claim.isAcquired()) {
			return this.observed.claim(() -> claim);
		}
		StoredResponse onRecord = commitAndComplete(response);
		return new Claim.Completed((onRecord != null) ? onRecord : response, this.request.retention());
	}

	/**
	 * Completes the key in the store after the transaction was committed. A test may
	 * still roll back a provisional transaction: then the key is released, and the next
	 * claim queries the database.
	 */
	@Override
	public void complete(StoredResponse response) {
		StoredResponse closed = this.committed;
		complete((closed != null) ? closed : this.observed.close(this.request, response), this.request.retention());
		this.observed.decideRun(response);
	}

	/**
	 * Releases the key in the store: the transaction was rolled back, or its outcome is
	 * unknown and the next claim queries the database for it.
	 */
	@Override
	public void release() {
		free();
		this.observed.decide(Outcome.RELEASED);
	}

	@Override
	public void settleUnknown() {
		free();
		this.observed.decide(Outcome.UNKNOWN);
	}

	@Override
	public void stopRenewal() {
		this.storeClaim.stopRenewal();
		endReservation();
	}

	private StoredResponse closeOrRollback(StoredResponse response) {
		try {
			return this.observed.close(this.request, response);
		}
		catch (RuntimeException | Error ex) {
			rollback();
			throw ex;
		}
	}

	private Claim claimAfterRollback() {
		try {
			return claimInTransaction(false);
		}
		catch (RuntimeException | Error ex) {
			this.observed.decide(Outcome.RELEASED);
			throw ex;
		}
	}

	private Claim claimOnce() {
		Claim claim = this.storeClaim.claim();
		return claim.fold((acquired) -> claimReserved(), (pending) -> this.transactions.find(this.request, pending),
				(completed) -> claim, (mismatched) -> claim);
	}

	private Claim claimAgain() {
		// A claim is settled only once.
		this.request = this.request.withNewToken();
		this.storeClaim = this.storeClaims.apply(this.request);
		return claimOnce();
	}

	private Claim claimReserved() {
		this.reserved = this.running.reserve(this.request.key());
		if (!this.reserved) {
			this.storeClaim.release();
			return new Claim.Pending(this.request.lease());
		}
		return claimInTransaction(!this.storeClaim.isGrantedByStore());
	}

	/**
	 * Claims the key in a transaction, which stays open if the key was acquired.
	 * @param contended whether no store refuses duplicates
	 */
	private Claim claimInTransaction(boolean contended) {
		try {
			Transaction begun = this.transactions.begin(this.request, contended);
			this.provisional = begun.isProvisional();
			return keepOpenOrSettle(begun);
		}
		catch (RuntimeException | Error ex) {
			free();
			throw ex;
		}
	}

	private Claim keepOpenOrSettle(Transaction begun) {
		Claim claim = begun.outcome();
		return claim.fold((acquired) -> {
			this.open = begun;
			return claim;
		}, (pending) -> {
			free();
			return claim;
		}, (completed) -> {
			complete(completed.response(), completed.remainingRetention());
			return claim;
		}, (mismatched) -> {
			free();
			return claim;
		});
	}

	private StoredResponse inquire(Throwable failure, StoredResponse response) {
		try {
			Claim.Completed onRecord = this.transactions.inquire(this.request, failure);
			complete(onRecord.response(), onRecord.remainingRetention());
			if (onRecord.response().equals(this.committed)) {
				this.observed.decideRun(response);
			}
			return this.observed.replay(onRecord).response();
		}
		catch (IdempotencyStoreUnavailableException ex) {
			stopRenewal();
			this.observed.decide(Outcome.UNKNOWN);
			throw ex;
		}
	}

	private void complete(StoredResponse response, Duration retention) {
		if (this.provisional) {
			this.storeClaim.release();
		}
		else {
			this.storeClaim.complete(response, retention);
		}
		endReservation();
	}

	private void free() {
		this.storeClaim.release();
		endReservation();
	}

	private void endReservation() {
		if (this.reserved) {
			this.reserved = false;
			this.running.free(this.request.key());
		}
	}

}
