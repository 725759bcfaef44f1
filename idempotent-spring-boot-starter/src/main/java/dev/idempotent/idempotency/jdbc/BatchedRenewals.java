package dev.idempotent.idempotency.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;

import javax.sql.DataSource;

import dev.idempotent.idempotency.IdempotencyStore.Renewal;
import dev.idempotent.jdbc.Statements;
import dev.idempotent.transaction.OwnTransactions;
import dev.idempotent.concurrent.OutageLog;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.dao.DataAccessException;
import org.springframework.dao.DataAccessResourceFailureException;
import org.springframework.jdbc.support.JdbcUtils;

/**
 * Renews the leases of many keys in one batch. If there is a data source without a pool,
 * on a connection that stays open, so that renewals never wait for an exhausted pool:
 * opened at the first use, and again after it was lost.
 */
final class BatchedRenewals implements AutoCloseable {

	private static final Logger logger = LoggerFactory.getLogger(BatchedRenewals.class);

	/**
	 * The number of keys in one statement, far below the limits of drivers.
	 */
	private static final int BATCH = 500;

	/**
	 * Longer than any batch takes. Bounds the wait for a server that does not answer.
	 */
	private static final int REPLY_TIMEOUT_MILLIS = 5000;

	private final OwnTransactions pooled;

	private final @Nullable DataSource unpooled;

	private final IdempotencyRecords records;

	private final OutageLog outage = new OutageLog(logger,
			"Leases could not be renewed together; they are renewed one by one, through the application's pool",
			"Leases are renewed together again");

	private final ReentrantLock lock = new ReentrantLock();

	private @Nullable Connection connection;

	private boolean closed;

	BatchedRenewals(OwnTransactions pooled, @Nullable DataSource unpooled, IdempotencyRecords records) {
		this.pooled = pooled;
		this.unpooled = unpooled;
		this.records = records;
	}

	/**
	 * Renews leases.
	 * @return the renewals that are certain to have succeeded; none, with one warning per
	 * outage, if the database does not respond
	 */
	Set<Renewal> renew(List<Renewal> held) {
		long start = System.nanoTime();
		try {
			Set<Renewal> renewed = new HashSet<>();
			for (int from = 0; from < held.size(); from += BATCH) {
				renewed.addAll(renewBatch(held.subList(from, Math.min(from + BATCH, held.size()))));
			}
			this.outage.succeeded(start);
			return renewed;
		}
		catch (DataAccessException ex) {
			this.outage.failed(start, ex);
			return Set.of();
		}
	}

	private Set<Renewal> renewBatch(List<Renewal> held) {
		return (this.unpooled != null)
				? runUnpooled(this.unpooled, (connection) -> this.records.renew(connection, held))
				: this.pooled.runInTransaction((connection) -> this.records.renew(connection, held));
	}

	/**
	 * Runs repeatable work in one transaction, and repeats it on a new connection if the
	 * kept one was lost.
	 */
	private <T> T runUnpooled(DataSource unpooled, Function<Connection, T> work) {
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
			return commit(open(unpooled), work);
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

	private Connection open(DataSource unpooled) throws SQLException {
		if (this.closed) {
			throw new DataAccessResourceFailureException("The connection has been closed permanently");
		}
		Connection opened = unpooled.getConnection();
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

	/**
	 * Closes the kept connection permanently.
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
