package dev.idempotent.idempotency.method;

import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;

import dev.idempotent.idempotency.Fingerprint;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.StoredResponse;
import dev.idempotent.idempotency.claim.Claimant;
import org.jspecify.annotations.Nullable;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Settles the keys of all runs in one transaction after its completion: completes them if
 * it was committed and releases them if it was rolled back. A rollback to a savepoint
 * releases the keys of the runs since then at once.
 */
final class ClaimSynchronization implements TransactionSynchronization {

	private final List<Run> runs = new ArrayList<>();

	private final IdentityHashMap<Object, Integer> savepoints = new IdentityHashMap<>();

	private ClaimSynchronization() {
	}

	/**
	 * Adds a run to the open transaction.
	 * @return the run, or {@code null} if no transaction is open
	 */
	static @Nullable Run join(IdempotencyKey key, Fingerprint fingerprint, Claimant claimant) {
		if (!TransactionSynchronizationManager.isActualTransactionActive()
				|| !TransactionSynchronizationManager.isSynchronizationActive()) {
			return null;
		}
		ClaimSynchronization synchronization = current();
		if (synchronization == null) {
			synchronization = new ClaimSynchronization();
			TransactionSynchronizationManager.registerSynchronization(synchronization);
		}
		Run run = new Run(key, fingerprint, claimant);
		synchronization.runs.add(run);
		return run;
	}

	/**
	 * Finds a run of the open transaction that has completed a key.
	 */
	static @Nullable Run findCompleted(IdempotencyKey key) {
		ClaimSynchronization synchronization = current();
		return (synchronization == null) ? null
				: synchronization.runs.stream()
					.filter((run) -> run.key.equals(key) && run.result != null && !run.released)
					.findFirst()
					.orElse(null);
	}

	/**
	 * Does not find that of a suspended transaction.
	 */
	private static @Nullable ClaimSynchronization current() {
		return !TransactionSynchronizationManager.isSynchronizationActive() ? null
				: (ClaimSynchronization) TransactionSynchronizationManager.getSynchronizations()
					.stream()
					.filter(ClaimSynchronization.class::isInstance)
					.findFirst()
					.orElse(null);
	}

	@Override
	public void savepoint(Object savepoint) {
		this.savepoints.put(savepoint, this.runs.size());
	}

	@Override
	public void savepointRollback(Object savepoint) {
		int kept = this.savepoints.getOrDefault(savepoint, 0);
		this.runs.stream().skip(kept).forEach(Run::release);
	}

	@Override
	public void afterCompletion(int status) {
		this.runs.forEach((run) -> run.settle(status));
	}

	/**
	 * A run in the transaction. One without a result has failed.
	 */
	static final class Run {

		private final IdempotencyKey key;

		private final Fingerprint fingerprint;

		private final Claimant claimant;

		private @Nullable StoredResponse result;

		private boolean released;

		private Run(IdempotencyKey key, Fingerprint fingerprint, Claimant claimant) {
			this.key = key;
			this.fingerprint = fingerprint;
			this.claimant = claimant;
		}

		void complete(StoredResponse stored) {
			this.result = stored;
		}

		Fingerprint fingerprint() {
			return this.fingerprint;
		}

		@Nullable StoredResponse result() {
			return this.result;
		}

		/**
		 * Releases the key now: the work of the run can no longer be committed.
		 */
		void release() {
			if (!this.released) {
				this.released = true;
				this.claimant.release();
			}
		}

		private void settle(int status) {
			if (this.released) {
				return;
			}
			StoredResponse stored = this.result;
			if (status == STATUS_UNKNOWN) {
				this.claimant.settleUnknown();
			}
			else if (status == STATUS_COMMITTED && stored != null) {
				this.claimant.complete(stored);
			}
			else {
				this.claimant.release();
			}
		}

	}

}
