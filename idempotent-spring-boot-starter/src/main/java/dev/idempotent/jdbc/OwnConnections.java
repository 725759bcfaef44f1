package dev.idempotent.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.function.Function;

import javax.sql.DataSource;

import org.jspecify.annotations.Nullable;

import org.springframework.dao.DataAccessException;
import org.springframework.dao.DataAccessResourceFailureException;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;

/**
 * Connections that take no part in a transaction of the calling thread, and are given
 * back as they came.
 */
public final class OwnConnections {

	private final DataSource dataSource;

	/**
	 * Creates a source of connections.
	 * @param dataSource where they come from; of a proxy that joins transactions, what is
	 * behind it
	 */
	public OwnConnections(DataSource dataSource) {
		this.dataSource = withoutTransactions(dataSource);
	}

	/**
	 * Runs work of which each statement commits by itself.
	 * @param <T> the type of the work's result
	 * @param work what to do with a connection
	 * @return what the work returned
	 * @throws DataAccessException if a connection cannot be had, or the work failed
	 */
	public <T extends @Nullable Object> T run(Function<Connection, T> work) {
		return run(true, work);
	}

	/**
	 * Runs work in one transaction at READ COMMITTED.
	 * @param <T> the type of the work's result
	 * @param work what to do with a connection
	 * @return what the work returned
	 * @throws DataAccessException if a connection cannot be had, or the work failed
	 */
	public <T extends @Nullable Object> T runInTransaction(Function<Connection, T> work) {
		return run(false, (connection) -> {
			try {
				int isolation = connection.getTransactionIsolation();
				connection.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
				try {
					return commit(connection, work);
				}
				finally {
					connection.setTransactionIsolation(isolation);
				}
			}
			catch (SQLException ex) {
				throw StatementFailures.translate("", ex);
			}
		});
	}

	private static <T extends @Nullable Object> T commit(Connection connection, Function<Connection, T> work)
			throws SQLException {
		boolean done = false;
		try {
			T result = work.apply(connection);
			connection.commit();
			done = true;
			return result;
		}
		finally {
			if (!done) {
				connection.rollback();
			}
		}
	}

	private <T extends @Nullable Object> T run(boolean autoCommit, Function<Connection, T> work) {
		try (Connection connection = open()) {
			boolean before = connection.getAutoCommit();
			if (before == autoCommit) {
				return work.apply(connection);
			}
			connection.setAutoCommit(autoCommit);
			try {
				return work.apply(connection);
			}
			finally {
				connection.setAutoCommit(before);
			}
		}
		catch (SQLException ex) {
			throw StatementFailures.translate("", ex);
		}
	}

	private Connection open() {
		try {
			return this.dataSource.getConnection();
		}
		// A pool that never reached its database fails with an exception of its own.
		catch (SQLException | RuntimeException ex) {
			throw new DataAccessResourceFailureException("There is no connection to the database", ex);
		}
	}

	/**
	 * Looks behind proxies that join transactions.
	 * @param dataSource any
	 * @return what transaction managers bind connections of
	 */
	public static DataSource withoutTransactions(DataSource dataSource) {
		return (dataSource instanceof TransactionAwareDataSourceProxy proxy && proxy.getTargetDataSource() != null)
				? withoutTransactions(proxy.getTargetDataSource()) : dataSource;
	}

}
