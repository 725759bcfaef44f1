package dev.idempotent.idempotency.jdbc;

import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;

import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Completes a record as the last statement of its transaction. A database may roll back
 * the victim of a deadlock while the work continues unaware; a record that is completed
 * earlier would not prove that the statements after it were committed. Then looks once
 * more, directly before the commit: PostgreSQL rolls back what a later synchronization
 * has made fail, and its driver reports a commit.
 */
final class RecordCompletion implements TransactionSynchronization {

	private final Runnable step;

	private final BooleanSupplier lastLook;

	private final List<Object> savepoints = new ArrayList<>();

	private boolean undone;

	private boolean confirmed;

	private RecordCompletion(Runnable step, BooleanSupplier lastLook) {
		this.step = step;
		this.lastLook = lastLook;
	}

	/**
	 * Completes a record before the transaction of this thread commits, or immediately if
	 * synchronization is not active. Has no effect if the transaction was rolled back to
	 * a savepoint that is older than the record.
	 * @param lastLook returns whether the transaction can be committed
	 */
	static RecordCompletion beforeCommit(Runnable step, BooleanSupplier lastLook) {
		RecordCompletion completion = new RecordCompletion(step, lastLook);
		if (TransactionSynchronizationManager.isSynchronizationActive()) {
			TransactionSynchronizationManager.registerSynchronization(completion);
		}
		else {
			step.run();
			completion.look();
		}
		return completion;
	}

	/**
	 * Returns whether the record was completed in a transaction that could be committed
	 * afterwards.
	 */
	boolean isConfirmed() {
		return this.confirmed;
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
			// Behind those that the others have registered until now.
			TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

				@Override
				public void beforeCompletion() {
					look();
				}

			});
		}
	}

	private void look() {
		this.confirmed = this.lastLook.getAsBoolean();
	}

}
