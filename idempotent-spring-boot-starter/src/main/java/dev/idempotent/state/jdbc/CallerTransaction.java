package dev.idempotent.state.jdbc;

import javax.sql.DataSource;

import dev.idempotent.jdbc.TransactionInspector;
import org.springframework.transaction.IllegalTransactionStateException;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * The transaction of the caller on one data source.
 */
final class CallerTransaction {

	private final TransactionInspector inspector;

	/**
	 * Inspects a data source.
	 * @param dataSource the data source whose connections transaction managers bind
	 */
	CallerTransaction(DataSource dataSource) {
		this.inspector = new TransactionInspector(dataSource);
	}

	/**
	 * Checks that what the calling thread writes now commits with its transaction.
	 * @throws IllegalTransactionStateException if it would not
	 */
	void require(String table) {
		if (!TransactionSynchronizationManager.isActualTransactionActive()) {
			throw unfit(table, "there is no transaction",
					"make the method that moves @Transactional, or use a TransactionTemplate");
		}
		if (!TransactionSynchronizationManager.isSynchronizationActive()) {
			throw ended(table);
		}
		if (!this.inspector.isManaged()) {
			throw unfit(table, "the transaction is not on the DataSource of this table",
					"name the transaction manager of that DataSource in @Transactional");
		}
		if (TransactionSynchronizationManager.isCurrentTransactionReadOnly()) {
			throw unfit(table, "the transaction is read-only", "leave out readOnly = true");
		}
		if (MovesSynchronization.joinsCommitted(this, table)) {
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

}
