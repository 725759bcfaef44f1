package dev.idempotent.saga.jdbc;

import java.sql.Connection;
import java.util.function.Function;

import javax.sql.DataSource;

import dev.idempotent.jdbc.Database;
import dev.idempotent.transaction.OwnTransactions;
import dev.idempotent.transaction.TransactionGuard;
import org.jspecify.annotations.Nullable;
import org.springframework.dao.InvalidDataAccessApiUsageException;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * The database of sagas. Repeats what conflicts with another transaction.
 */
final class SagaDatabase {

	private final OwnTransactions transactions;

	private final SagaTables tables;

	private volatile @Nullable Database detected;

	SagaDatabase(OwnTransactions transactions, SagaTables tables) {
		this.transactions = transactions;
		this.tables = tables;
	}

	/**
	 * The data source whose connections transaction managers bind.
	 */
	DataSource dataSource() {
		return this.transactions.dataSource();
	}

	/**
	 * The kind of database, detected with the first connection.
	 */
	Database kind() {
		Database known = this.detected;
		return (known != null) ? known : this.transactions.run(this::kind);
	}

	private Database kind(Connection connection) {
		Database known = this.detected;
		if (known == null) {
			known = Database.of(connection, "Sagas", "remove the @Saga methods");
			this.detected = known;
		}
		return known;
	}

	private SagaSql sql(Connection connection) {
		return new SagaSql(connection, kind(connection), this.tables);
	}

	/**
	 * Runs one statement, which commits by itself.
	 */
	<T extends @Nullable Object> T runStatement(Function<SagaSql, T> work) {
		return OwnTransactions.repeat(() -> this.transactions.run((connection) -> work.apply(sql(connection))));
	}

	/**
	 * Runs work that is one statement where that can make several changes, and elsewhere
	 * several in a transaction.
	 */
	<T extends @Nullable Object> T run(Function<SagaSql, T> work) {
		return kind().combinesChanges() ? runStatement(work) : runInTransaction(work);
	}

	/**
	 * Runs work in one transaction at READ COMMITTED, which uses indexes even if the
	 * table has just filled.
	 */
	<T extends @Nullable Object> T runInTransaction(Function<SagaSql, T> work) {
		return OwnTransactions
			.repeat(() -> this.transactions.runInTransaction((connection) -> work.apply(sql(connection))));
	}

	/**
	 * Runs work in the transaction of the calling thread. On another connection, or one
	 * that was merely used in a transaction of another database or is in an outer one, it
	 * would not commit with the work of the transaction.
	 */
	<T extends @Nullable Object> T join(Function<SagaSql, T> work) {
		if (!TransactionSynchronizationManager.isActualTransactionActive()
				|| !TransactionGuard.isCurrent(dataSource())) {
			throw new InvalidDataAccessApiUsageException(
					"The calling thread has no transaction on the DataSource of the sagas");
		}
		return TransactionGuard.join(dataSource(), (connection) -> work.apply(sql(connection)));
	}

}
