package dev.idempotent.idempotency.method;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

import dev.idempotent.idempotency.Claim;
import dev.idempotent.idempotency.Fingerprint;
import dev.idempotent.idempotency.IdempotencyContext;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.IdempotencyResultException;
import dev.idempotent.idempotency.StoredResponse;
import dev.idempotent.idempotency.engine.Claimant;
import dev.idempotent.idempotency.engine.TransactionalClaimant;
import dev.idempotent.transaction.End;
import dev.idempotent.transaction.ObservedTransaction;
import dev.idempotent.transaction.PendingChanges;
import dev.idempotent.transaction.TransactionParticipant;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.transaction.annotation.Propagation;

/**
 * One run under a key: claims the key, then completes it with a result or releases it. In
 * a transaction of the caller, the key is settled when that transaction has ended. A
 * future of the work may complete on another thread.
 */
final class MethodRun {

	private static final Logger logger = LoggerFactory.getLogger(MethodRun.class);

	private final IdempotencyKey key;

	private final Fingerprint fingerprint;

	private final Claimant claimant;

	/**
	 * The same claimant under {@link dev.idempotent.idempotency.Guarantee#TRANSACTION},
	 * whose transaction is open once the key is acquired.
	 */
	private final @Nullable TransactionalClaimant transaction;

	private boolean joined;

	private boolean nested;

	/**
	 * A run in a transaction that has no result has failed.
	 */
	private @Nullable StoredResponse result;

	private boolean settled;

	/**
	 * Whether a future of the work has not completed, so that the key is kept.
	 */
	private boolean inProgress;

	/**
	 * Whether the work was rolled back to a savepoint.
	 */
	private boolean undone;

	/**
	 * How many transactions that may contain the work have not ended.
	 */
	private int open;

	/**
	 * How the transactions that have ended did so.
	 */
	private @Nullable End end;

	MethodRun(IdempotencyKey key, Fingerprint fingerprint, Claimant claimant) {
		this.key = key;
		this.fingerprint = fingerprint;
		this.claimant = claimant;
		this.transaction = (claimant instanceof TransactionalClaimant transactional) ? transactional : null;
	}

	/**
	 * Finds a run of the open transaction that has completed a key.
	 */
	static @Nullable MethodRun findCompleted(IdempotencyKey key) {
		RunsOfTransaction open = RunsOfTransaction.current();
		return (open == null) ? null
				: open.runs.stream().filter((run) -> run.key.equals(key) && run.isCompleted()).findFirst().orElse(null);
	}

	private synchronized boolean isCompleted() {
		return this.result != null && !this.settled && !this.undone;
	}

	Fingerprint fingerprint() {
		return this.fingerprint;
	}

	synchronized @Nullable StoredResponse result() {
		return this.result;
	}

	/**
	 * Claims the key.
	 * @param timeout how long to wait for another run, or {@code null} not to wait
	 */
	Claim claim(@Nullable Duration timeout) {
		return (timeout != null) ? this.claimant.claimOrWait(timeout) : this.claimant.claim();
	}

	/**
	 * Joins the open transaction, if the work participates in it.
	 */
	void join(Propagation participation) {
		this.nested = participation == Propagation.NESTED;
		this.joined = participation != Propagation.REQUIRES_NEW && RunsOfTransaction.add(this);
		if (!this.joined && (this.transaction != null
				|| (participation != Propagation.REQUIRES_NEW && ObservedTransaction.isUnobservable()))) {
			throw new IllegalStateException("The transaction of key " + this.key
					+ " does not support synchronization, so its outcome would go unnoticed. Enable it on the "
					+ "transaction manager (setTransactionSynchronization), or call the method outside of the "
					+ "transaction");
		}
	}

	IdempotencyContext context() {
		return this.claimant.context();
	}

	/**
	 * Flushes work in a transaction that is still open, so that its result has what the
	 * flush generates.
	 */
	void flushWork() {
		if (this.transaction != null) {
			this.transaction.flushWork();
		}
		else if (this.joined) {
			ObservedTransaction open = ObservedTransaction.known();
			if (open != null && !open.isCommitting()) {
				Objects.requireNonNullElseGet(open.changes(), PendingChanges::ofThread).flush();
			}
		}
	}

	/**
	 * Keeps the key until {@link #futureCompleted}.
	 */
	synchronized void waitForFuture() {
		this.inProgress = true;
	}

	/**
	 * Settles the key of work that has ended, once its transaction has, too.
	 * @param stored its result, or {@code null} if it has failed
	 */
	void futureCompleted(@Nullable StoredResponse stored) {
		boolean ended;
		synchronized (this) {
			this.inProgress = false;
			this.result = this.undone ? null : stored;
			ended = this.open == 0 || this.undone || (this.nested && stored == null);
		}
		if (ended) {
			settleNow();
		}
	}

	/**
	 * Completes the key with a result, once the work is committed.
	 */
	void complete(StoredResponse stored) {
		if (this.joined) {
			// Must come before the commit of the transaction, which may happen here.
			synchronized (this) {
				this.result = stored;
			}
		}
		else {
			this.claimant.complete(stored);
		}
		if (this.transaction != null) {
			this.transaction.commit(stored);
		}
	}

	/**
	 * Returns whether the commit has failed and may have been made.
	 */
	boolean isInDoubt() {
		return this.transaction != null && this.transaction.isInDoubt();
	}

	/**
	 * Releases the key, once the work is rolled back.
	 */
	void release() {
		if (this.transaction != null) {
			this.transaction.rollback();
		}
		if (!this.joined || this.nested) {
			releaseNow();
		}
	}

	/**
	 * Releases the key of work that can no longer be committed.
	 */
	private void releaseNow() {
		synchronized (this) {
			this.undone = true;
			if (this.settled || this.inProgress) {
				return;
			}
			this.settled = true;
		}
		this.claimant.release();
	}

	/**
	 * Returns what to store instead of a result that cannot be replayed.
	 * @param first whether it is the first one of its method
	 * @throws IdempotencyResultException if the work can be rolled back instead
	 */
	StoredResponse replaceUnwritable(IdempotencyResultException failure, boolean first) {
		if (this.transaction != null) {
			throw failure;
		}
		if (first) {
			logger.error(
					"The work of key {} has been done, but its result cannot be replayed. Further ones of this method "
							+ "are not logged",
					this.key, failure);
		}
		return StoredResponse.notKept();
	}

	/**
	 * Settles the key when each transaction that may have contained the work has ended.
	 */
	private void settle(End one) {
		synchronized (this) {
			this.end = (this.end == null || this.end == one) ? one : End.UNKNOWN;
			this.open--;
			if (this.open > 0 || this.inProgress) {
				return;
			}
		}
		settleNow();
	}

	private void settleNow() {
		StoredResponse stored;
		End all;
		synchronized (this) {
			if (this.settled) {
				return;
			}
			this.settled = true;
			stored = this.result;
			all = (this.end != null) ? this.end : End.COMMITTED;
		}
		if (all == End.UNKNOWN) {
			this.claimant.settleUnknown();
		}
		else if (all == End.COMMITTED && stored != null) {
			this.claimant.complete(stored);
		}
		else {
			this.claimant.release();
		}
	}

	/**
	 * Settles the keys of all runs in one transaction after its end: completes them if it
	 * was committed and releases them if it was rolled back. A rollback to a savepoint
	 * releases the keys of the runs since then at once.
	 */
	private static final class RunsOfTransaction implements TransactionParticipant {

		private final List<MethodRun> runs = new ArrayList<>();

		/**
		 * Adds a run to the open transaction.
		 * @return {@code false} if no transaction is open
		 */
		static boolean add(MethodRun run) {
			ObservedTransaction transaction = ObservedTransaction.current();
			if (transaction == null || transaction.isCommitted()) {
				return false;
			}
			for (ObservedTransaction each : transaction.withThoseAround()) {
				RunsOfTransaction open = each.participant(RunsOfTransaction.class);
				if (open == null) {
					open = new RunsOfTransaction();
					each.add(open, null);
				}
				open.runs.add(run);
				run.open++;
			}
			return true;
		}

		static @Nullable RunsOfTransaction current() {
			ObservedTransaction transaction = ObservedTransaction.known();
			return (transaction != null) ? transaction.participant(RunsOfTransaction.class) : null;
		}

		@Override
		public Runnable savepoint() {
			int kept = this.runs.size();
			return () -> releaseFrom(kept);
		}

		@Override
		public void undone() {
			releaseFrom(0);
		}

		private void releaseFrom(int kept) {
			this.runs.stream().skip(kept).forEach(MethodRun::releaseNow);
		}

		@Override
		public void ended(End end) {
			this.runs.forEach((run) -> run.settle(end));
		}

	}

}
