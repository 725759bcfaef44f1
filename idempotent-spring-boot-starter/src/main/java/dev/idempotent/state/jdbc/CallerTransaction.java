package dev.idempotent.state.jdbc;

import dev.idempotent.jdbc.TransactionInspector;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.transaction.IllegalTransactionStateException;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * The transaction of the caller in which rows of one table are moved. Detects moves after
 * its commit, when it still appears active.
 */
final class CallerTransaction implements TransactionSynchronization {

	private static final Logger logger = LoggerFactory.getLogger(CallerTransaction.class);

	/**
	 * Whose moves these are.
	 */
	private final TransactionInspector owner;

	private final String table;

	private boolean completing;

	private boolean committed;

	private CallerTransaction(TransactionInspector owner, String table) {
		this.owner = owner;
		this.table = table;
	}

	/**
	 * Checks that what the calling thread writes now commits with its transaction.
	 * @throws IllegalTransactionStateException if it would not
	 */
	static void require(TransactionInspector inspector, String table) {
		if (!TransactionSynchronizationManager.isActualTransactionActive()) {
			throw unfit(table, "there is no transaction",
					"make the method that moves @Transactional, or use a TransactionTemplate");
		}
		if (!TransactionSynchronizationManager.isSynchronizationActive()) {
			throw ended(table);
		}
		if (!inspector.isManaged()) {
			throw unfit(table, "the transaction is not on the DataSource of this table",
					"name the transaction manager of that DataSource in @Transactional");
		}
		if (TransactionSynchronizationManager.isCurrentTransactionReadOnly()) {
			throw unfit(table, "the transaction is read-only", "leave out readOnly = true");
		}
		if (joinsCommitted(inspector, table)) {
			throw ended(table);
		}
	}

	private static IllegalTransactionStateException ended(String table) {
		return unfit(table, "the transaction has ended",
				"move before the commit, or in a transaction of its own (Propagation.REQUIRES_NEW)");
	}

	private static IllegalTransactionStateException unfit(String table, String problem, String action) {
		return new IllegalTransactionStateException(
				"No row of %s was moved, because %s: %s".formatted(table, problem, action));
	}

	/**
	 * Joins the transaction of the calling thread, which must have synchronization.
	 * @return whether it is known to have committed
	 */
	private static boolean joinsCommitted(TransactionInspector owner, String table) {
		CallerTransaction current = (CallerTransaction) TransactionSynchronizationManager.getResource(owner);
		if (current == null || !current.isRegistered()) {
			current = new CallerTransaction(owner, table);
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
