package dev.idempotent.idempotency.claim;

import java.time.Duration;

import dev.idempotent.idempotency.Claim;
import dev.idempotent.idempotency.IdempotencyContext;
import dev.idempotent.idempotency.IdempotencyStoreException;
import dev.idempotent.idempotency.IdempotencyStoreUnavailableException;
import dev.idempotent.idempotency.StoredResponse;
import org.jspecify.annotations.Nullable;

/**
 * One request's request for a key whose record commits with the work. A store in front
 * keeps duplicates away from the database; the database has the last word. Belongs to one
 * thread: the one that the transaction is bound to.
 */
public final class TransactionalClaimant implements Claimant {

	private final DatabaseClaimant claimant;

	TransactionalClaimant(DatabaseClaimant claimant) {
		this.claimant = claimant;
	}

	/**
	 * Claims the key in front, then in a transaction of the database.
	 * @return the outcome; {@link Claim.Acquired} leaves the transaction open and bound
	 * to this thread
	 * @throws IdempotencyStoreUnavailableException if the database is unreachable
	 * @throws IdempotencyStoreException if the key cannot be used
	 */
	@Override
	public Claim claim() {
		return this.claimant.claim();
	}

	@Override
	public Claim claimOrWait(Duration patience) {
		return this.claimant.claimOrWait(patience);
	}

	@Override
	public IdempotencyContext context() {
		return this.claimant.request().context();
	}

	/**
	 * Tells whether something in the work has given the transaction up.
	 * @return whether it can only be rolled back
	 */
	public boolean isRollbackOnly() {
		return this.claimant.openTransaction().isRollbackOnly();
	}

	/**
	 * Commits the work together with its answer, and frees duplicates to be answered.
	 * Whatever the commit reports, the database is asked what became of it.
	 * @param response the answer
	 * @return {@code null} if it committed; after a failure the answer on record, which
	 * is to be sent in its place
	 * @throws WorkRolledBackException if the work is undone; the key is still claimed in
	 * front
	 * @throws IdempotencyStoreUnavailableException if nobody can tell; the key is left to
	 * its lease
	 */
	public @Nullable StoredResponse commit(StoredResponse response) {
		StoredResponse onRecord = null;
		try {
			this.claimant.close().commit(response, this.claimant.request().retention());
			this.claimant.completeInFront(response);
		}
		catch (RuntimeException | Error ex) {
			onRecord = findOut(ex);
		}
		this.claimant.endDeciding();
		return onRecord;
	}

	/**
	 * Undoes the work if its transaction is open. The key is still claimed in front.
	 */
	public void rollback() {
		if (this.claimant.isOpen()) {
			this.claimant.close().rollback();
		}
	}

	/**
	 * Keeps the answer of work that was rolled back, in a transaction of its own, unless
	 * the key has an answer by now.
	 * @param response the answer
	 * @return what is on record: {@link Claim.Completed} with this or another answer, or
	 * another claimant's claim
	 * @throws WorkRolledBackException if the database did not keep it; the key is still
	 * claimed in front
	 * @throws IdempotencyStoreException if the database cannot keep it; the key is freed,
	 * or left to its lease if nobody can tell
	 */
	public Claim keep(StoredResponse response) {
		Claim claim = this.claimant.askDatabase(false);
		if (!claim.isAcquired()) {
			return claim;
		}
		StoredResponse onRecord = commit(response);
		return new Claim.Completed((onRecord != null) ? onRecord : response, this.claimant.request().retention());
	}

	/**
	 * Frees the key, whose work was rolled back.
	 */
	public void release() {
		this.claimant.release();
	}

	/**
	 * Leaves the key to the lease that it has in front.
	 */
	public void stopRenewal() {
		this.claimant.stopRenewal();
	}

	private StoredResponse findOut(Throwable failure) {
		ClaimRequest request = this.claimant.request();
		Claim claim = CommitInquiry.ask(this.claimant.transactions(), request, failure);
		return claim.fold((acquired) -> {
			throw new WorkRolledBackException(failure);
		}, (pending) -> {
			stopRenewal();
			throw new IdempotencyStoreUnavailableException(
					"The database does not say whether the transaction of key " + request.key() + " was committed",
					failure);
		}, (completed) -> {
			this.claimant.tellFront(completed);
			return completed.response();
		}, (mismatched) -> {
			throw new WorkRolledBackException(failure);
		});
	}

}
