package dev.idempotent.idempotency.method;

import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;

import dev.idempotent.idempotency.Fingerprint;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.StoredResponse;
import org.jspecify.annotations.Nullable;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * The runs that have taken part in one transaction: their keys are settled when it has
 * ended, as it has ended. A part that is rolled back to a savepoint frees the keys of its
 * runs at once.
 */
final class ClaimSynchronization implements TransactionSynchronization {

	private final List<Run> runs = new ArrayList<>();

	private final IdentityHashMap<Object, Integer> savepoints = new IdentityHashMap<>();

	private ClaimSynchronization() {
	}

	/**
	 * Enters a run, if a transaction of its caller is open.
	 * @return the run, or {@code null} if nothing will end later than the work
	 */
	static @Nullable Run enter(IdempotencyKey key, Fingerprint fingerprint, Settlement settlement) {
		if (!TransactionSynchronizationManager.isActualTransactionActive()
				|| !TransactionSynchronizationManager.isSynchronizationActive()) {
			return null;
		}
		ClaimSynchronization end = current();
		if (end == null) {
			end = new ClaimSynchronization();
			TransactionSynchronizationManager.registerSynchronization(end);
		}
		Run run = new Run(key, fingerprint, settlement);
		end.runs.add(run);
		return run;
	}

	/**
	 * Finds a run of the open transaction that has finished under a key.
	 */
	static @Nullable Run finished(IdempotencyKey key) {
		ClaimSynchronization end = current();
		return (end == null) ? null
				: end.runs.stream()
					.filter((run) -> run.key.equals(key) && run.result != null && !run.undone)
					.findFirst()
					.orElse(null);
	}

	/**
	 * Those of a suspended transaction are not found.
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
		this.runs.stream().skip(kept).forEach(Run::undo);
	}

	@Override
	public void afterCompletion(int status) {
		this.runs.forEach((run) -> run.settle(status));
	}

	/**
	 * What becomes of a key in the end.
	 */
	interface Settlement {

		void committed(StoredResponse result);

		void rolledBack();

		void unknown();

	}

	/**
	 * One run. Without a result it has failed.
	 */
	static final class Run {

		private final IdempotencyKey key;

		private final Fingerprint fingerprint;

		private final Settlement settlement;

		private @Nullable StoredResponse result;

		private boolean undone;

		private Run(IdempotencyKey key, Fingerprint fingerprint, Settlement settlement) {
			this.key = key;
			this.fingerprint = fingerprint;
			this.settlement = settlement;
		}

		void finish(StoredResponse stored) {
			this.result = stored;
		}

		Fingerprint fingerprint() {
			return this.fingerprint;
		}

		@Nullable StoredResponse result() {
			return this.result;
		}

		/**
		 * Frees the key: the work will not be committed, whatever follows.
		 */
		void undo() {
			if (!this.undone) {
				this.undone = true;
				this.settlement.rolledBack();
			}
		}

		private void settle(int status) {
			if (this.undone) {
				return;
			}
			StoredResponse stored = this.result;
			if (status == STATUS_UNKNOWN) {
				this.settlement.unknown();
			}
			else if (status == STATUS_COMMITTED && stored != null) {
				this.settlement.committed(stored);
			}
			else {
				this.settlement.rolledBack();
			}
		}

	}

}
