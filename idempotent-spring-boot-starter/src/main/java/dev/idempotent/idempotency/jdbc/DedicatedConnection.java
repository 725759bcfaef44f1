package dev.idempotent.idempotency.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;

import javax.sql.DataSource;

import dev.idempotent.jdbc.Statements;
import org.jspecify.annotations.Nullable;
import org.springframework.dao.DataAccessException;
import org.springframework.dao.DataAccessResourceFailureException;
import org.springframework.jdbc.support.JdbcUtils;

/**
 * A connection outside the pool that stays open for one task, so that the task never
 * waits for an exhausted pool. Opened at the first use, and again after it was lost.
 */
final class DedicatedConnection implements AutoCloseable {

	/**
	 * Longer than any batch takes. Bounds the wait for a server that does not answer.
	 */
	private static final int REPLY_TIMEOUT_MILLIS = 5000;

	private final ReentrantLock lock = new ReentrantLock();

	private final DataSource dataSource;

	private @Nullable Connection connection;

	private boolean closed;

	/**
	 * Creates a connection that is not yet open.
	 * @param dataSource opens connections that are not pooled
	 */
	DedicatedConnection(DataSource dataSource) {
		this.dataSource = dataSource;
	}

	/**
	 * Runs repeatable work in one transaction. Repeats it on a new connection if the kept
	 * one was lost.
	 * @param <T> the type of the work's result
	 * @param work what to do with the connection
	 * @return what the work returned
	 * @throws DataAccessException if there is no connection, or the work failed
	 */
	<T> T run(Function<Connection, T> work) {
		this.lock.lock();
		try {
			if (this.connection != null) {
				try {
					return commit(this.connection, work);
				}
				catch (DataAccessException | SQLException ex) {
					drop();
				}
			}
			return commit(open(), work);
		}
		catch (SQLException ex) {
			drop();
			throw Statements.translate("", ex);
		}
		catch (RuntimeException ex) {
			drop();
			throw ex;
		}
		finally {
			this.lock.unlock();
		}
	}

	/**
	 * Closes the connection permanently.
	 */
	@Override
	public void close() {
		this.lock.lock();
		try {
			this.closed = true;
			drop();
		}
		finally {
			this.lock.unlock();
		}
	}

	private Connection open() throws SQLException {
		if (this.closed) {
			throw new DataAccessResourceFailureException("The connection has been closed permanently");
		}
		Connection opened = this.dataSource.getConnection();
		this.connection = opened;
		opened.setAutoCommit(false);
		try {
			opened.setNetworkTimeout(Runnable::run, REPLY_TIMEOUT_MILLIS);
		}
		catch (SQLException | RuntimeException ex) {
			// Embedded databases have no network.
		}
		return opened;
	}

	private static <T> T commit(Connection connection, Function<Connection, T> work) throws SQLException {
		T result = work.apply(connection);
		connection.commit();
		return result;
	}

	private void drop() {
		JdbcUtils.closeConnection(this.connection);
		this.connection = null;
	}

}
