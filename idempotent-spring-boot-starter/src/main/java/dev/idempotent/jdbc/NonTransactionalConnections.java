package dev.idempotent.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Optional;
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
public final class NonTransactionalConnections {

	/**
	 * The tables can be empty for hours and full a moment later, before PostgreSQL has
	 * statistics of them. A plan that was kept from the empty table reads the full one
	 * from end to end, and a new one that relies on the statistics may do so as well.
	 */
	private static final List<String> POSTGRESQL_TRANSACTION = List.of("set transaction isolation level read committed",
			"set local plan_cache_mode = force_custom_plan", "set local enable_seqscan = off",
			"set local enable_bitmapscan = off");

	private final DataSource dataSource;

	/**
	 * Creates a source of connections.
	 * @param dataSource where they come from; of a proxy that joins transactions, what is
	 * behind it
	 */
	public NonTransactionalConnections(DataSource dataSource) {
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
	 * Runs work in one transaction at READ COMMITTED, whose statements PostgreSQL plans
	 * each time, by indexes.
	 * @param <T> the type of the work's result
	 * @param work what to do with a connection
	 * @return what the work returned
	 * @throws DataAccessException if a connection cannot be had, or the work failed
	 */
	public <T extends @Nullable Object> T runInTransaction(Function<Connection, T> work) {
		return run(false, (connection) -> {
			try {
				return Database.find(connection).equals(Optional.of(Database.POSTGRESQL))
						? commit(connection, (begun) -> work.apply(prepared(begun)))
						: commitReadCommitted(connection, work);
			}
			catch (SQLException ex) {
				throw Statements.translate("", ex);
			}
		});
	}

	/**
	 * Sends all settings at once. They end with the transaction, so that they also hold
	 * behind a pooler, and the next user of the session does not have them.
	 */
	private static Connection prepared(Connection connection) {
		try (Statement statement = connection.createStatement()) {
			for (String each : POSTGRESQL_TRANSACTION) {
				statement.addBatch(each);
			}
			statement.executeBatch();
			return connection;
		}
		catch (SQLException ex) {
			throw Statements.translate("", ex);
		}
	}

	private static <T extends @Nullable Object> T commitReadCommitted(Connection connection,
			Function<Connection, T> work) throws SQLException {
		int isolation = connection.getTransactionIsolation();
		connection.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
		try {
			return commit(connection, work);
		}
		finally {
			connection.setTransactionIsolation(isolation);
		}
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
			if (!before) {
				// A pool's test query may have begun a transaction.
				connection.rollback();
			}
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
			throw Statements.translate("", ex);
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
