package dev.idempotent.idempotency.engine;

import java.time.Duration;
import java.util.Objects;

import dev.idempotent.idempotency.Claim;
import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.IdempotencyObserver;
import dev.idempotent.idempotency.IdempotencyObserver.Operation;
import dev.idempotent.idempotency.IdempotencyObserver.Outcome;
import dev.idempotent.idempotency.IdempotencyStoreException;
import dev.idempotent.idempotency.IdempotencyStoreUnavailableException;
import dev.idempotent.idempotency.RunOrigin;
import dev.idempotent.idempotency.StoredResponse;
import dev.idempotent.idempotency.engine.IdempotencyTransactions.Transaction;
import dev.idempotent.idempotency.engine.IdempotencyTransactions.WorkRolledBackException;
import org.jspecify.annotations.Nullable;

/**
 * Claims a key under {@link Guarantee#TRANSACTION}: its record commits with the work. The
 * database decides; a store in front of it refuses duplicates. An acquired claim leaves a
 * transaction open and bound to the calling thread, which must use this claimant alone.
 * The transaction is ended first, by {@link #commitAndComplete}, {@link #commit} or
 * {@link #rollback}; the key in the store is then completed or released.
 */
public final class TransactionalClaimant extends Claimant {

	private final InFlightKeys running;

	private final OperationTransactions transactions;

	private final @Nullable DerivationRoot root;

	/**
	 * The claim in the store in front of the database.
	 */
	private LeasedKey front;

	/**
	 * Whether the key is reserved in this process, which sends one claim of a key to the
	 * database at a time.
	 */
	private boolean reserved;

	/**
	 * Whether a test may still roll back what the transaction commits.
	 */
	private boolean provisional;

	private @Nullable Transaction open;

	private @Nullable Transaction ended;

	private @Nullable StoredResponse committedForm;

	/**
	 * The epoch of the database that has claimed the key.
	 */
	private @Nullable String epoch;

	TransactionalClaimant(Operation operation, IdempotencyObserver observer, ResponseEnvelope envelope, LeasedKey front,
			InFlightKeys running, OperationTransactions transactions, @Nullable DerivationRoot root) {
		super(operation, observer, envelope);
		this.front = front;
		this.running = running;
		this.transactions = transactions;
		this.root = root;
	}

	@Override
	ClaimRequest request() {
		return this.front.request();
	}

	@Override
	Claim claimRepeatedly(Duration timeout) {
		return this.running.await(request().key(), claimOnce(), this::claimAgain, timeout);
	}

	/**
	 * Flushes the work before its result is written, which may contain what the database
	 * or a mapper generates.
	 * @throws RuntimeException if a statement fails
	 */
	public void flushWork() {
		Objects.requireNonNull(this.open, "No transaction is open").flushWork();
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
		StoredResponse encrypted = encryptOrRollBack(response);
		Transaction committed = Objects.requireNonNull(this.open, "No transaction is open");
		this.open = null;
		this.ended = committed;
		this.committedForm = encrypted;
		if (this.root != null) {
			this.root.runEnds();
		}
		committed.commit(encrypted, request().retention());
	}

	/**
	 * Returns whether it is unknown how the transaction of {@link #commit} has ended.
	 * @return {@code false} also if a caller ends the transaction
	 */
	public boolean isInDoubt() {
		return this.ended != null && this.ended.isInDoubt();
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
			if (this.root != null) {
				this.root.runFails();
			}
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
		Claim claim = claimAfterRollback();
		if (!claim.isAcquired()) {
			return observed(() -> claim);
		}
		StoredResponse onRecord = commitAndComplete(response);
		return new Claim.Completed((onRecord != null) ? onRecord : response, request().retention());
	}

	private Claim claimAfterRollback() {
		try {
			return claimInTransaction(false);
		}
		catch (RuntimeException | Error ex) {
			decide(Outcome.RELEASED);
			throw ex;
		}
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
		StoredResponse encrypted = this.committedForm;
		completeInFront((encrypted != null) ? encrypted : envelope().encrypt(request(), response), this.epoch,
				request().retention());
		decideRun(response);
	}

	/**
	 * Releases the key in the store after the transaction was rolled back.
	 */
	@Override
	public void release() {
		releaseInFront();
		decide(Outcome.RELEASED);
	}

	@Override
	public void settleUnknown() {
		releaseInFront();
		decide(Outcome.UNKNOWN);
	}

	@Override
	public void stopRenewal() {
		this.front.stopRenewal();
		endReservation();
	}

	private StoredResponse encryptOrRollBack(StoredResponse response) {
		try {
			return envelope().encrypt(request(), response);
		}
		catch (RuntimeException | Error ex) {
			rollback();
			throw ex;
		}
	}

	@Override
	Claim claimOnce() {
		Claim claim = this.front.claim();
		if (claim.isAcquired()) {
			this.reserved = this.running.reserve(request().key());
			if (!this.reserved) {
				this.front.release();
				return new Claim.Pending(request().lease());
			}
			return claimInTransaction(!this.front.isGrantedByStore());
		}
		if (claim instanceof Claim.Completed completed) {
			return replayOrAskDatabase(completed);
		}
		return (claim instanceof Claim.Pending pending) ? this.transactions.find(request(), pending) : claim;
	}

	/**
	 * Replays a response of the store only if the database still has its record. That is
	 * certain in the epoch of the commit, and for a run under a lease the store alone
	 * decides. Otherwise the record may have been lost with the work: then the response
	 * in the store is removed when the work is done again.
	 */
	private Claim replayOrAskDatabase(Claim.Completed inStore) {
		IdempotencyKey key = request().key();
		RunOrigin origin = ResponseEnvelope.origin(key, inStore.response());
		if ((origin != null && origin.guarantee() == Guarantee.LEASE)
				|| this.transactions.isCurrent(ResponseEnvelope.epoch(key, inStore.response()))) {
			return inStore;
		}
		Claim onRecord = this.transactions.find(request());
		if (onRecord != null) {
			return onRecord;
		}
		this.reserved = this.running.reserve(key);
		if (!this.reserved) {
			return new Claim.Pending(request().lease());
		}
		this.front.skipStore();
		return claimInTransaction(true);
	}

	private Claim claimAgain() {
		this.front = this.front.withNewToken();
		return claimOnce();
	}

	/**
	 * Claims the key in a transaction, which stays open if the key was acquired.
	 * @param contended whether no store refuses duplicates
	 */
	private Claim claimInTransaction(boolean contended) {
		try {
			Transaction begun = this.transactions.begin(request(), contended);
			this.provisional = begun.isProvisional();
			this.epoch = begun.epoch();
			return keepOpenOrSettle(begun);
		}
		catch (RuntimeException | Error ex) {
			releaseInFront();
			throw ex;
		}
	}

	private Claim keepOpenOrSettle(Transaction begun) {
		Claim claim = begun.outcome();
		if (claim.isAcquired()) {
			this.open = begun;
		}
		else if (claim instanceof Claim.Completed completed) {
			completeInFront(completed.response(), this.epoch, completed.remainingRetention());
		}
		else {
			releaseInFront();
		}
		return claim;
	}

	/**
	 * Completes the key in the store, or releases it if the transaction is provisional:
	 * then the next claim queries the database.
	 * @param committedIn the epoch in which the database has committed the response, or
	 * {@code null} if it is not known
	 */
	private void completeInFront(StoredResponse response, @Nullable String committedIn, Duration retention) {
		if (this.provisional) {
			this.front.release();
		}
		else {
			this.front.complete(ResponseEnvelope.withEpoch(response, committedIn), retention);
		}
		endReservation();
	}

	private void releaseInFront() {
		this.front.release();
		endReservation();
	}

	private void endReservation() {
		if (this.reserved) {
			this.reserved = false;
			this.running.free(request().key());
		}
	}

	private StoredResponse inquire(Throwable failure, StoredResponse response) {
		try {
			Claim.Completed onRecord = this.transactions.inquire(request(), failure);
			// Found by another session, perhaps of another database.
			completeInFront(onRecord.response(), null, onRecord.remainingRetention());
			if (Objects.equals(onRecord.response(), this.committedForm)) {
				decideRun(response);
			}
			return replay(onRecord).response();
		}
		catch (IdempotencyStoreUnavailableException ex) {
			stopRenewal();
			decide(Outcome.UNKNOWN);
			throw ex;
		}
	}

}
