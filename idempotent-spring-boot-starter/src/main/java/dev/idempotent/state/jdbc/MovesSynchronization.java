package dev.idempotent.state.jdbc;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Detects moves after the commit of their transaction, which still appears active then.
 */
final class MovesSynchronization implements TransactionSynchronization {

	private static final Logger logger = LoggerFactory.getLogger(MovesSynchronization.class);

	private final Object owner;

	private final String table;

	private boolean completing;

	private boolean committed;

	private MovesSynchronization(Object owner, String table) {
		this.owner = owner;
		this.table = table;
	}

	/**
	 * Joins the transaction of the calling thread, which must have synchronization.
	 * @param owner whose moves these are
	 * @param table the table of the moves
	 * @return whether the transaction is known to have committed
	 */
	static boolean joinsCommitted(Object owner, String table) {
		MovesSynchronization current = (MovesSynchronization) TransactionSynchronizationManager.getResource(owner);
		if (current == null || !current.isRegistered()) {
			current = new MovesSynchronization(owner, table);
			current.suspend();
			current.resume();
			TransactionSynchronizationManager.registerSynchronization(current);
		}
		return current.committed;
	}

	/**
	 * A transaction whose completion was never reported may have left one behind.
	 */
	private boolean isRegistered() {
		return TransactionSynchronizationManager.getSynchronizations().contains(this);
	}

	/**
	 * Runs first, because other synchronizations may move.
	 */
	@Override
	public int getOrder() {
		return HIGHEST_PRECEDENCE;
	}

	@Override
	public void suspend() {
		TransactionSynchronizationManager.unbindResourceIfPossible(this.owner);
	}

	@Override
	public void resume() {
		TransactionSynchronizationManager.bindResource(this.owner, this);
	}

	@Override
	public void beforeCompletion() {
		this.completing = true;
	}

	@Override
	public void afterCommit() {
		this.committed = true;
	}

	@Override
	public void afterCompletion(int status) {
		suspend();
		if (status == STATUS_COMMITTED && !this.completing && !this.committed) {
			logger.error("Rows of {} were moved after the commit of their transaction, by one of its callbacks. They "
					+ "are not stored, unless the connection commits by itself: move before the commit, or in a "
					+ "transaction of their own (Propagation.REQUIRES_NEW)", this.table);
		}
	}

}
