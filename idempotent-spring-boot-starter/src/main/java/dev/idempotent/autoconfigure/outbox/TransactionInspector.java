package dev.idempotent.autoconfigure.outbox;

import javax.sql.DataSource;

import org.springframework.jdbc.datasource.ConnectionHolder;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Tells who has bound the connection of the calling thread. Begins no transactions.
 */
final class TransactionInspector extends DataSourceTransactionManager {

	private final DataSource target;

	TransactionInspector(DataSource target) {
		super(target);
		this.target = target;
	}

	/**
	 * Whether a transaction manager has bound the connection and will commit it. One that
	 * was merely used in a transaction of another resource is synchronized with that, but
	 * is not in a transaction. A JPA transaction manager sets neither mark.
	 */
	boolean isManaged() {
		ConnectionHolder holder = (ConnectionHolder) TransactionSynchronizationManager.getResource(this.target);
		return holder != null && (!holder.isSynchronizedWithTransaction() || isExistingTransaction(doGetTransaction()));
	}

}
