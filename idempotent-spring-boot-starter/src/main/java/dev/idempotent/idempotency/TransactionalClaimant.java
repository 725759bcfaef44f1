package dev.idempotent.idempotency;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

/**
 * One request's bid for a key whose record commits with the work. A store in front keeps
 * duplicates away from the database; the database has the last word. Belongs to one
 * thread: the one that the transaction is bound to.
 */
public final class TransactionalClaimant {

	private final IdempotencyGuard guard;

	private final IdempotencyTransactions transactions;

	private Bid bid;

	private Claimant front;

	private @Nullable IdempotencyTransaction open;

	private boolean deciding;

	TransactionalClaimant(IdempotencyGuard guard, Bid bid, IdempotencyTransactions transactions) {
		this.guard = guard;
		this.bid = bid;
		this.front = guard.front(bid);
		this.transactions = transactions;
	}

	/**
	 * Claims the key in front, then in a transaction of the database.
	 * @return the outcome; {@link Claim.Acquired} leaves the transaction open and bound
	 * to this thread
	 * @throws IdempotencyStoreUnavailableException if the database is unreachable
	 * @throws IdempotencyStoreException if the key cannot be used
	 */
	public Claim claim() {
		Claim claim = this.front.claim();
		if (claim instanceof Claim.Acquired) {
			return decide();
		}
		return (claim instanceof Claim.Pending pending && isOverdue(pending)) ? lookUp(pending) : claim;
	}

	/**
	 * Claims the key, and waits while another claimant runs the same work.
	 * @param patience how long to wait at most
	 * @return the outcome; {@link Claim.Pending} if the work still runs after that time,
	 * or if too many wait already
	 * @throws IdempotencyStoreException as {@link #claim()} does
	 */
	public Claim claimOrWait(Duration patience) {
		Claim claim = claim();
		return (claim instanceof Claim.Pending pending)
				? this.guard.running().await(this.bid.key(), pending, this::claimAgain, patience) : claim;
	}

	/**
	 * The context in which the work is done.
	 * @return a context of its own at each call
	 */
	public IdempotencyContext context() {
		return this.bid.context();
	}

	/**
	 * Tells whether something in the work has given the transaction up.
	 * @return whether it can only be rolled back
	 */
	public boolean isRollbackOnly() {
		return openTransaction().isRollbackOnly();
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
			close().commit(response, this.bid.retention());
			this.front.complete(response);
		}
		catch (RuntimeException | Error ex) {
			onRecord = findOut(ex);
		}
		endDeciding();
		return onRecord;
	}

	/**
	 * Undoes the work if its transaction is open. The key is still claimed in front.
	 */
	public void rollback() {
		if (this.open != null) {
			close().rollback();
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
		Claim claim = askDatabase(false);
		if (!(claim instanceof Claim.Acquired)) {
			return claim;
		}
		StoredResponse onRecord = commit(response);
		return new Claim.Completed((onRecord != null) ? onRecord : response, this.bid.retention());
	}

	/**
	 * Frees the key, whose work was rolled back.
	 */
	public void release() {
		this.front.release();
		endDeciding();
	}

	/**
	 * Leaves the key to the lease that it has in front.
	 */
	public void stopRenewal() {
		this.front.stopRenewal();
		endDeciding();
	}

	/**
	 * A claimant in front settles its claim but once.
	 */
	private Claim claimAgain() {
		this.bid = this.bid.withNewToken();
		this.front = this.guard.front(this.bid);
		return claim();
	}

	private Claim decide() {
		if (!this.guard.deciding().add(this.bid.key())) {
			this.front.release();
			return new Claim.Pending(this.bid.lease());
		}
		this.deciding = true;
		return askDatabase(!this.front.isGrantedByStore());
	}

	private Claim askDatabase(boolean contended) {
		try {
			IdempotencyTransaction begun = begin(contended);
			Claim claim = begun.claim();
			this.guard.databaseOutage().end();
			if (claim instanceof Claim.Acquired) {
				this.open = begun;
			}
			else {
				tellFront(claim);
				endDeciding();
			}
			return claim;
		}
		catch (IdempotencyStoreUnavailableException ex) {
			this.guard.databaseOutage().note(ex);
			release();
			throw ex;
		}
		catch (RuntimeException | Error ex) {
			release();
			throw ex;
		}
	}

	private IdempotencyTransaction begin(boolean contended) {
		return this.transactions.begin(this.bid.key(), this.bid.fingerprint(), this.bid.token(), this.bid.lease(),
				contended);
	}

	/**
	 * An owner that lives renews its lease long before half of it is gone.
	 */
	private boolean isOverdue(Claim.Pending pending) {
		return pending.remainingLease().compareTo(this.bid.lease().dividedBy(2)) < 0;
	}

	private Claim lookUp(Claim.Pending pending) {
		try {
			Claim found = this.transactions.find(this.bid.key(), this.bid.fingerprint());
			return (found != null) ? found : pending;
		}
		catch (IdempotencyStoreUnavailableException ex) {
			return pending;
		}
	}

	private StoredResponse findOut(Throwable failure) {
		Claim claim = CommitInquiry.ask(this.transactions, this.bid, failure);
		if (claim instanceof Claim.Completed completed) {
			tellFront(claim);
			return completed.response();
		}
		if (claim instanceof Claim.Pending) {
			stopRenewal();
			throw new IdempotencyStoreUnavailableException(
					"The database does not say whether the transaction of key " + this.bid.key() + " was committed",
					failure);
		}
		throw new WorkRolledBackException(failure);
	}

	private void tellFront(Claim onRecord) {
		if (onRecord instanceof Claim.Completed completed) {
			this.front.complete(completed.response(), completed.remainingRetention());
		}
		else {
			this.front.release();
		}
	}

	private IdempotencyTransaction close() {
		IdempotencyTransaction closed = openTransaction();
		this.open = null;
		return closed;
	}

	private IdempotencyTransaction openTransaction() {
		if (this.open == null) {
			throw new IllegalStateException("No transaction is open");
		}
		return this.open;
	}

	private void endDeciding() {
		if (this.deciding) {
			this.deciding = false;
			this.guard.deciding().remove(this.bid.key());
		}
	}

}
