package dev.idempotent.jdbc;

import javax.sql.DataSource;

import org.springframework.jdbc.datasource.ConnectionHolder;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Determines whether the connection of the calling thread is in a transaction. Begins no
 * transactions.
 */
public final class TransactionInspector extends DataSourceTransactionManager {

	private final DataSource target;

	/**
	 * Creates an inspector.
	 * @param target the data source whose connections transaction managers bind
	 */
	public TransactionInspector(DataSource target) {
		super(target);
		this.target = target;
	}

	/**
	 * Whether a transaction manager has bound the connection and will commit it. One that
	 * was merely used in a transaction of another resource is synchronized with that, but
	 * is not in a transaction. A JPA transaction manager sets neither mark.
	 * @return {@code false} if there is no connection, or none that is in a transaction
	 */
	public boolean isManaged() {
		return TransactionSynchronizationManager.getResource(this.target) instanceof ConnectionHolder holder
				&& (!holder.isSynchronizedWithTransaction() || isExistingTransaction(doGetTransaction()));
	}

}
