package dev.idempotent.idempotency.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;

import javax.sql.DataSource;

import dev.idempotent.jdbc.Statements;
import org.jspecify.annotations.Nullable;
import org.springframework.dao.DataAccessException;
import org.springframework.dao.DataAccessResourceFailureException;
import org.springframework.dao.PessimisticLockingFailureException;
import org.springframework.jdbc.support.JdbcUtils;

/**
 * One connection outside the application's pool, which the work of the application may
 * have exhausted. Opened at its first use, kept, and opened again after it was lost. Runs
 * one transaction at a time.
 */
final class KeptConnection implements AutoCloseable {

	/**
	 * Longer than any transaction here takes. Bounds the wait for a server that does not
	 * answer.
	 */
	private static final int REPLY_TIMEOUT_MILLIS = 5000;

	private final DataSource unpooled;

	private final ReentrantLock lock = new ReentrantLock();

	private @Nullable Connection connection;

	private boolean closed;

	/**
	 * Creates a connection that is not open yet.
	 * @param unpooled opens connections to the database of the pool
	 */
	KeptConnection(DataSource unpooled) {
		this.unpooled = unpooled;
	}

	/**
	 * Runs repeatable work in one transaction, and repeats it on a new connection if the
	 * kept one was lost.
	 * @throws PessimisticLockingFailureException if a lock was not granted; the
	 * connection is kept
	 * @throws DataAccessException if there is no connection, another thread has it for
	 * too long, or the work failed
	 */
	<T> T run(Function<Connection, T> work) {
		acquire();
		try {
			if (this.connection != null) {
				try {
					return commit(this.connection, work);
				}
				catch (PessimisticLockingFailureException ex) {
					throw ex;
				}
				catch (DataAccessException | SQLException ex) {
					// Tried again on another one.
				}
			}
			return commit(open(), work);
		}
		catch (SQLException ex) {
			throw Statements.translate("", ex);
		}
		finally {
			this.lock.unlock();
		}
	}

	private void acquire() {
		boolean acquired = false;
		try {
			acquired = this.lock.tryLock(REPLY_TIMEOUT_MILLIS, TimeUnit.MILLISECONDS);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
		if (!acquired) {
			throw new DataAccessResourceFailureException("The connection outside the pool is in use for too long");
		}
	}

	private Connection open() throws SQLException {
		if (this.closed) {
			throw new DataAccessResourceFailureException("The connection has been closed permanently");
		}
		Connection opened = this.unpooled.getConnection();
		this.connection = opened;
		opened.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
		opened.setAutoCommit(false);
		try {
			opened.setNetworkTimeout(Runnable::run, REPLY_TIMEOUT_MILLIS);
		}
		catch (SQLException | RuntimeException ex) {
			// Embedded databases have no network.
		}
		return opened;
	}

	private <T> T commit(Connection current, Function<Connection, T> work) throws SQLException {
		boolean usable = false;
		try {
			T result = work.apply(current);
			current.commit();
			usable = true;
			return result;
		}
		catch (PessimisticLockingFailureException ex) {
			current.rollback();
			usable = true;
			throw ex;
		}
		finally {
			if (!usable) {
				drop();
			}
		}
	}

	private void drop() {
		JdbcUtils.closeConnection(this.connection);
		this.connection = null;
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

}
