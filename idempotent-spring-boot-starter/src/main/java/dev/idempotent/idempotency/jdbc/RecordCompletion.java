package dev.idempotent.idempotency.jdbc;

import java.util.ArrayList;
import java.util.List;

import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Completes a record as the last statement of its transaction. A database may roll back
 * the victim of a deadlock while the work continues unaware; a record that is completed
 * earlier would not prove that the statements after it were committed.
 */
final class RecordCompletion implements TransactionSynchronization {

	private final Runnable step;

	private final List<Object> savepoints = new ArrayList<>();

	private boolean undone;

	private RecordCompletion(Runnable step) {
		this.step = step;
	}

	/**
	 * Completes a record before the transaction of this thread commits, or immediately if
	 * synchronization is not active. Has no effect if the transaction was rolled back to
	 * a savepoint that is older than the record.
	 */
	static void beforeCommit(Runnable step) {
		if (TransactionSynchronizationManager.isSynchronizationActive()) {
			TransactionSynchronizationManager.registerSynchronization(new RecordCompletion(step));
		}
		else {
			step.run();
		}
	}

	@Override
	public void savepoint(Object savepoint) {
		this.savepoints.add(savepoint);
	}

	@Override
	public void savepointRollback(Object savepoint) {
		this.undone |= this.savepoints.stream().noneMatch((younger) -> younger == savepoint);
	}

	@Override
	public void beforeCommit(boolean readOnly) {
		if (!this.undone) {
			this.step.run();
		}
	}

}
