package dev.idempotent.saga.jdbc;

import java.sql.Connection;
import java.util.function.BiFunction;

import javax.sql.DataSource;

import dev.idempotent.jdbc.Database;
import dev.idempotent.jdbc.NonTransactionalConnections;
import org.jspecify.annotations.Nullable;
import org.springframework.dao.InvalidDataAccessApiUsageException;
import org.springframework.jdbc.datasource.ConnectionHolder;
import org.springframework.jdbc.datasource.DataSourceUtils;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * The database of sagas. Repeats what conflicts with another transaction.
 */
final class SagaDatabase {

	private final DataSource dataSource;

	private final NonTransactionalConnections connections;

	private volatile @Nullable Database detected;

	SagaDatabase(DataSource dataSource) {
		this.dataSource = NonTransactionalConnections.withoutTransactions(dataSource);
		this.connections = new NonTransactionalConnections(dataSource);
	}

	/**
	 * The data source whose connections transaction managers bind.
	 */
	DataSource dataSource() {
		return this.dataSource;
	}

	/**
	 * The kind of database, detected with the first connection.
	 */
	Database kind() {
		Database known = this.detected;
		return (known != null) ? known : this.connections.run(this::kind);
	}

	Database kind(Connection connection) {
		Database known = this.detected;
		if (known == null) {
			known = Database.of(connection, "Sagas", "remove the @Saga methods");
			this.detected = known;
		}
		return known;
	}

	/**
	 * Runs one statement, which commits by itself.
	 */
	<T extends @Nullable Object> T runStatement(BiFunction<Connection, Database, T> work) {
		return NonTransactionalConnections
			.repeat(() -> this.connections.run((connection) -> work.apply(connection, kind(connection))));
	}

	/**
	 * Runs work that is one statement on PostgreSQL, and elsewhere several in a
	 * transaction.
	 */
	<T extends @Nullable Object> T run(BiFunction<Connection, Database, T> work) {
		return (kind() == Database.POSTGRESQL) ? runStatement(work) : runInTransaction(work);
	}

	/**
	 * Runs work in one transaction at READ COMMITTED, which uses indexes even if the
	 * table has just filled.
	 */
	<T extends @Nullable Object> T runInTransaction(BiFunction<Connection, Database, T> work) {
		return NonTransactionalConnections
			.repeat(() -> this.connections.runInTransaction((connection) -> work.apply(connection, kind(connection))));
	}

	/**
	 * Runs work in the transaction of the calling thread. On another connection, it would
	 * not commit with the work of the transaction.
	 */
	<T extends @Nullable Object> T join(BiFunction<Connection, Database, T> work) {
		if (!TransactionSynchronizationManager.isActualTransactionActive()
				|| !(TransactionSynchronizationManager.getResource(this.dataSource) instanceof ConnectionHolder)) {
			throw new InvalidDataAccessApiUsageException(
					"The calling thread has no transaction on the DataSource of the sagas");
		}
		Connection connection = DataSourceUtils.getConnection(this.dataSource);
		try {
			return work.apply(connection, kind(connection));
		}
		finally {
			DataSourceUtils.releaseConnection(connection, this.dataSource);
		}
	}

}
