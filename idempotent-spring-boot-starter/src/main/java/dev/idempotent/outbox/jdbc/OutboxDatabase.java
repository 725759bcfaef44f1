package dev.idempotent.outbox.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.function.BiFunction;
import java.util.function.Function;

import javax.sql.DataSource;

import dev.idempotent.jdbc.Database;
import dev.idempotent.jdbc.NonTransactionalConnections;
import dev.idempotent.jdbc.Statements;
import org.jspecify.annotations.Nullable;
import org.springframework.dao.CannotAcquireLockException;
import org.springframework.dao.DuplicateKeyException;
import org.springframework.dao.PessimisticLockingFailureException;
import org.springframework.jdbc.datasource.DataSourceUtils;

/**
 * The database of the outbox. Repeats transactions that conflict with another one: every
 * database rolls back the victim of a deadlock, and MariaDB may do so even for rows that
 * are to be skipped.
 */
final class OutboxDatabase {

	private static final int ATTEMPTS = 10;

	/**
	 * For locks that are not granted in time: MySQL waits up to 50 seconds for each.
	 */
	private static final Duration MAX_WAIT = Duration.ofSeconds(10);

	private final DataSource dataSource;

	private final NonTransactionalConnections connections;

	private volatile @Nullable Database detected;

	private volatile @Nullable Boolean unfit;

	OutboxDatabase(DataSource dataSource) {
		this.dataSource = NonTransactionalConnections.withoutTransactions(dataSource);
		this.connections = new NonTransactionalConnections(dataSource);
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
			known = Database.of(connection, "An outbox", "set idempotent.outbox.enabled=false");
			this.detected = known;
		}
		return known;
	}

	/**
	 * Runs work on the connection of the calling thread's transaction: the pool may not
	 * have another one.
	 */
	<T> T join(Function<Connection, T> work) {
		Connection connection = DataSourceUtils.getConnection(this.dataSource);
		try {
			return work.apply(connection);
		}
		finally {
			DataSourceUtils.releaseConnection(connection, this.dataSource);
		}
	}

	/**
	 * Runs statements that commit one by one.
	 */
	<T> T run(Function<Connection, T> work) {
		return this.connections.run(work);
	}

	/**
	 * Runs one query, which sees committed rows only. PostgreSQL would count a query at
	 * SERIALIZABLE, if that is the default of the pool, among the reasons to abort
	 * transactions of the application.
	 */
	<T> T query(Function<Connection, T> work) {
		Boolean known = this.unfit;
		if (known == null) {
			known = run(OutboxDatabase::isUnfit);
			this.unfit = known;
		}
		return known ? runInTransaction(work) : run(work);
	}

	/**
	 * Returns whether the isolation of the pool is not suitable for queries.
	 */
	private static boolean isUnfit(Connection connection) {
		try {
			int isolation = connection.getTransactionIsolation();
			return isolation == Connection.TRANSACTION_SERIALIZABLE
					|| isolation == Connection.TRANSACTION_READ_UNCOMMITTED;
		}
		catch (SQLException ex) {
			throw Statements.translate("", ex);
		}
	}

	/**
	 * Runs work once, in one transaction.
	 */
	<T> T runOnce(Function<Connection, T> work) {
		return this.connections.runInTransaction(work);
	}

	/**
	 * Runs work in one transaction, which is repeated if it conflicts with another one.
	 */
	<T> T runInTransaction(Function<Connection, T> work) {
		long begun = System.nanoTime();
		int attempt = 1;
		while (true) {
			try {
				return runOnce(work);
			}
			catch (PessimisticLockingFailureException ex) {
				boolean waited = ex instanceof CannotAcquireLockException;
				if (attempt++ == ATTEMPTS || (waited && System.nanoTime() - begun >= MAX_WAIT.toNanos())) {
					throw ex;
				}
			}
		}
	}

	/**
	 * Moves rows between tables in one transaction, to new rows where the old ones are
	 * taken: a sequence repeats row ids after its table was truncated.
	 */
	<T> T move(EventMoves moves, BiFunction<EventMoves, Connection, T> work) {
		try {
			return runInTransaction((connection) -> work.apply(moves, connection));
		}
		catch (DuplicateKeyException ex) {
			return runInTransaction((connection) -> work.apply(moves.toFreeRows(), connection));
		}
	}

}
