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

	private final Function<ClaimRequest, FrontClaim> frontClaims;

	private final RunningClaims running;

	private final GuardedTransactions transactions;

	private final ObservedClaim observed;

	private ClaimRequest request;

	private FrontClaim front;

	private @Nullable Transaction open;

	private @Nullable Transaction ended;

	private @Nullable StoredResponse committedForm;

	/**
	 * The epoch of the database that has claimed the key.
	 */
	private @Nullable String epoch;

	/**
	 * Creates a claimant.
	 * @param frontClaims creates a claim in the store, for one attempt each
	 */
	TransactionalClaimant(ClaimRequest request, Function<ClaimRequest, FrontClaim> frontClaims, RunningClaims running,
			GuardedTransactions transactions, ObservedClaim observed) {
		this.frontClaims = frontClaims;
		this.running = running;
		this.transactions = transactions;
		this.observed = observed;
		this.request = request;
		this.front = frontClaims.apply(request);
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
	 * Writes the response into the transaction, and commits unless a caller began it.
	 * {@link #complete} or {@link #release} must follow when the transaction has ended.
	 * @param response the response
	 * @throws RuntimeException if that fails: the transaction was rolled back, or its
	 * outcome is unknown until the next claim
	 */
	public void commit(StoredResponse response) {
		StoredResponse closed = closeOrRollBack(response);
		Transaction committed = Objects.requireNonNull(this.open, "No transaction is open");
		this.open = null;
		this.ended = committed;
		this.committedForm = closed;
		committed.commit(closed, this.request.retention());
	}

	/**
	 * Commits the work together with its response, and completes the key in the store.
	 * After a failure the database is queried for the outcome.
	 * @param response the response
	 * @return {@code null} if it committed; after a failure the response on record
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
		Transaction undone = this.open;
		this.open = null;
		if (undone != null) {
			undone.rollback();
		}
	}

	/**
	 * Stores the response of work that was rolled back, in a transaction of its own,
	 * unless the key has a response by now.
	 * @param response the response
	 * @return the claim on record, {@link Claim.Completed} or another claimant's
	 * @throws WorkRolledBackException if the database did not store it; the key is still
	 * claimed in the store
	 * @throws IdempotencyStoreException if the database cannot store it; the key is free,
	 * or claimed until its lease expires
	 */
	public Claim completeAfterRollback(StoredResponse response) {
		Claim claim = this.observed.claimAfterRollback(() -> claimInTransaction(false));
		if (!claim.isAcquired()) {
			return claim;
		}
		StoredResponse onRecord = commitAndComplete(response);
		return new Claim.Completed((onRecord != null) ? onRecord : response, this.request.retention());
	}

	/**
	 * Completes the key in the store after the transaction was committed. Releases it if
	 * the database may have rolled back instead: the next claim finds the outcome there.
	 */
	@Override
	public void complete(StoredResponse response) {
		if (this.ended == null || !this.ended.isConfirmed()) {
			release();
			return;
		}
		StoredResponse closed = this.committedForm;
		this.front.complete((closed != null) ? closed : this.observed.close(this.request, response), this.epoch,
				this.request.retention());
		this.observed.decideRun(response);
	}

	/**
	 * Releases the key in the store after the transaction was rolled back.
	 */
	@Override
	public void release() {
		this.front.release();
		this.observed.decide(Outcome.RELEASED);
	}

	@Override
	public void settleUnknown() {
		this.front.release();
		this.observed.decide(Outcome.UNKNOWN);
	}

	@Override
	public void stopRenewal() {
		this.front.stopRenewal();
	}

	private StoredResponse closeOrRollBack(StoredResponse response) {
		try {
			return this.observed.close(this.request, response);
		}
		catch (RuntimeException | Error ex) {
			rollback();
			throw ex;
		}
	}

	private Claim claimOnce() {
		Claim claim = this.front.claim();
		return claim.fold(
				(acquired) -> this.front.reserve() ? claimInTransaction(!this.front.isGrantedByStore())
						: new Claim.Pending(this.request.lease()),
				(pending) -> this.transactions.find(this.request, pending), this::replayOrAskDatabase,
				(other) -> claim);
	}

	/**
	 * Replays a response of the store only if the database still has its record. That is
	 * certain in the epoch of the commit, and for a run under a lease the store alone
	 * decides. Otherwise the record may have been lost with the work.
	 */
	private Claim replayOrAskDatabase(Claim.Completed inStore) {
		ResponseEnvelope.Commit commit = ResponseEnvelope.commit(this.request.key(), inStore.response());
		if (commit.guarantee() == Guarantee.LEASE || this.transactions.isCurrent(commit.epoch())) {
			return inStore;
		}
		Claim onRecord = this.transactions.find(this.request);
		if (onRecord != null) {
			return onRecord;
		}
		return this.front.reserveWithoutStore() ? claimInTransaction(true) : new Claim.Pending(this.request.lease());
	}

	private Claim claimAgain() {
		// A claim is settled only once.
		this.request = this.request.withNewToken();
		this.front = this.frontClaims.apply(this.request);
		return claimOnce();
	}

	/**
	 * Claims the key in a transaction, which stays open if the key was acquired.
	 * @param contended whether no store refuses duplicates
	 */
	private Claim claimInTransaction(boolean contended) {
		try {
			Transaction begun = this.transactions.begin(this.request, contended);
			this.front.setProvisional(begun.isProvisional());
			this.epoch = begun.epoch();
			return keepOpenOrSettle(begun);
		}
		catch (RuntimeException | Error ex) {
			this.front.release();
			throw ex;
		}
	}

	private Claim keepOpenOrSettle(Transaction begun) {
		Claim claim = begun.outcome();
		return claim.fold((acquired) -> {
			this.open = begun;
			return claim;
		}, this::release, (completed) -> {
			this.front.complete(completed.response(), this.epoch, completed.remainingRetention());
			return claim;
		}, this::release);
	}

	private Claim release(Claim claim) {
		this.front.release();
		return claim;
	}

	private StoredResponse inquire(Throwable failure, StoredResponse response) {
		try {
			Claim.Completed onRecord = this.transactions.inquire(this.request, failure);
			// Found by another session, perhaps of another database.
			this.front.complete(onRecord.response(), null, onRecord.remainingRetention());
			if (Objects.equals(onRecord.response(), this.committedForm)) {
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

}
