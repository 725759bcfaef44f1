package dev.idempotent.saga.jdbc;

import java.sql.Connection;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BiFunction;
import java.util.function.Supplier;

import javax.sql.DataSource;

import dev.idempotent.jdbc.Database;
import dev.idempotent.jdbc.NonTransactionalConnections;
import org.jspecify.annotations.Nullable;
import org.springframework.dao.CannotAcquireLockException;
import org.springframework.dao.InvalidDataAccessApiUsageException;
import org.springframework.dao.PessimisticLockingFailureException;
import org.springframework.jdbc.datasource.ConnectionHolder;
import org.springframework.jdbc.datasource.DataSourceUtils;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * The database of sagas. Repeats what conflicts with another transaction: every database
 * rolls back the victim of a deadlock, MariaDB even for rows that are to be skipped, and
 * a statement at a higher isolation than READ COMMITTED conflicts with each change since
 * it began.
 */
final class SagaDatabase {

	private static final int ATTEMPTS = 20;

	private static final int MOST_DOUBLINGS = 6;

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
		return repeated(() -> this.connections.run((connection) -> work.apply(connection, kind(connection))));
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
		return repeated(
				() -> this.connections.runInTransaction((connection) -> work.apply(connection, kind(connection))));
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

	private static <T extends @Nullable Object> T repeated(Supplier<T> work) {
		int attempt = 1;
		while (true) {
			try {
				return work.get();
			}
			catch (CannotAcquireLockException ex) {
				throw ex;
			}
			catch (PessimisticLockingFailureException ex) {
				if (attempt == ATTEMPTS) {
					throw ex;
				}
				pause(attempt++);
			}
		}
	}

	/**
	 * Waits for a random time of up to 64 ms, so that those that conflict do not meet
	 * again.
	 */
	private static void pause(int attempt) {
		long longest = TimeUnit.MILLISECONDS.toNanos(1L << Math.min(attempt, MOST_DOUBLINGS));
		LockSupport.parkNanos(ThreadLocalRandom.current().nextLong(longest));
	}

}
