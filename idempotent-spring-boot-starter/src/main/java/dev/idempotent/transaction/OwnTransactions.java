package dev.idempotent.transaction;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLNonTransientConnectionException;
import java.sql.SQLTransientConnectionException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import java.util.function.Supplier;

import javax.sql.DataSource;

import dev.idempotent.jdbc.Database;
import dev.idempotent.jdbc.Statements;
import dev.idempotent.concurrent.Workers;
import org.jspecify.annotations.Nullable;
import org.springframework.dao.CannotAcquireLockException;
import org.springframework.dao.DataAccessException;
import org.springframework.dao.DataAccessResourceFailureException;
import org.springframework.dao.PessimisticLockingFailureException;
import org.springframework.jdbc.support.JdbcUtils;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Transactions of the library on connections that do not participate in a transaction of
 * the calling thread. The connections are returned with their original settings. A thread
 * that already holds a connection of the same pool waits at most 2 seconds for one: as
 * many such threads as the pool has connections would block each other.
 */
public final class OwnTransactions implements AutoCloseable {

	/**
	 * The tables can be empty for hours and then fill within seconds, before PostgreSQL
	 * updates its statistics. A plan that was cached for the empty table then scans the
	 * whole table, and so may a new plan that relies on the old statistics.
	 */
	private static final List<String> POSTGRESQL_TRANSACTION = List.of("set transaction isolation level read committed",
			"set local plan_cache_mode = force_custom_plan", "set local enable_seqscan = off",
			"set local enable_bitmapscan = off");

	/**
	 * Far below the timeout of a pool, which is 30 seconds for HikariCP.
	 */
	private static final Duration MAX_WAIT = Duration.ofSeconds(2);

	private static final int MAX_WAITING = 64;

	private static final int ATTEMPTS = 20;

	private static final int MOST_DOUBLINGS = 6;

	private final DataSource dataSource;

	/**
	 * Wait for the pool instead of threads that hold a connection.
	 */
	private final ExecutorService waiting;

	/**
	 * Creates transactions on a data source.
	 * @param dataSource provides the connections; a proxy that participates in
	 * transactions is unwrapped
	 */
	public OwnTransactions(DataSource dataSource) {
		this(dataSource, new ThreadPoolExecutor(0, MAX_WAITING, 10, TimeUnit.SECONDS, new SynchronousQueue<>(),
				Workers.daemons("second-connection-")));
	}

	private OwnTransactions(DataSource dataSource, ExecutorService waiting) {
		this.dataSource = TransactionGuard.target(dataSource);
		this.waiting = waiting;
	}

	/**
	 * Returns transactions on another data source of the application.
	 * @param other provides the connections
	 * @return transactions that end with these
	 */
	public OwnTransactions on(DataSource other) {
		return new OwnTransactions(other, this.waiting);
	}

	/**
	 * Returns the data source.
	 * @return the one whose connections transaction managers bind
	 */
	public DataSource dataSource() {
		return this.dataSource;
	}

	/**
	 * Ends the threads that wait for connections, without an interrupt: an embedded H2
	 * would close its file. A thread that holds a connection gets no second one any more.
	 */
	@Override
	public void close() {
		this.waiting.shutdown();
	}

	/**
	 * Runs work whose statements commit one by one.
	 * @param <T> the type of the work's result
	 * @param work what to do with a connection
	 * @return what the work returned
	 * @throws DataAccessException if there is no connection, or the work failed
	 */
	public <T extends @Nullable Object> T run(Function<Connection, T> work) {
		return run(true, work);
	}

	/**
	 * Runs work in one transaction at READ COMMITTED. PostgreSQL plans its statements
	 * each time and uses indexes.
	 * @param <T> the type of the work's result
	 * @param work what to do with a connection
	 * @return what the work returned
	 * @throws DataAccessException if there is no connection, or the work failed
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
	 * Repeats work that conflicts with another transaction: every database rolls back the
	 * victim of a deadlock, MariaDB even for rows that are to be skipped, and a statement
	 * at a higher isolation than READ COMMITTED conflicts with each change since it
	 * began.
	 * @param <T> the type of the work's result
	 * @param work commits or rolls back all that it does
	 * @return what the work returned
	 * @throws CannotAcquireLockException at once, if a lock was not granted in time
	 * @throws PessimisticLockingFailureException if each of 20 attempts conflicts
	 */
	public static <T extends @Nullable Object> T repeat(Supplier<T> work) {
		return repeat(Duration.ZERO, work);
	}

	/**
	 * Repeats work that conflicts with another transaction, or that does not get a lock
	 * in time.
	 * @param <T> the type of the work's result
	 * @param patience how long to repeat work that does not get a lock
	 * @param work commits or rolls back all that it does
	 * @return what the work returned
	 * @throws PessimisticLockingFailureException if each of 20 attempts fails, or a lock
	 * was not granted after that time
	 */
	public static <T extends @Nullable Object> T repeat(Duration patience, Supplier<T> work) {
		long begun = System.nanoTime();
		for (int attempt = 1; attempt < ATTEMPTS; attempt++) {
			try {
				return work.get();
			}
			catch (PessimisticLockingFailureException ex) {
				if (ex instanceof CannotAcquireLockException && System.nanoTime() - begun >= patience.toNanos()) {
					throw ex;
				}
				pause(attempt);
			}
		}
		return work.get();
	}

	/**
	 * Waits for a random time of up to 64 ms, so that those that conflict do not meet
	 * again.
	 */
	private static void pause(int attempt) {
		long longest = TimeUnit.MILLISECONDS.toNanos(1L << Math.min(attempt, MOST_DOUBLINGS));
		LockSupport.parkNanos(ThreadLocalRandom.current().nextLong(longest));
	}

	/**
	 * Sends all settings in one batch. They end with the transaction, so they apply
	 * behind a connection pooler, too, and do not affect the next user of the session.
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
				// The test query of a pool may have begun a transaction.
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
			return TransactionSynchronizationManager.hasResource(this.dataSource) ? second()
					: this.dataSource.getConnection();
		}
		// A pool that never reached its database throws an exception of its own type.
		catch (SQLException | RuntimeException ex) {
			throw new DataAccessResourceFailureException("There is no connection to the database", ex);
		}
	}

	private Connection second() throws SQLException {
		@Nullable CompletableFuture<Connection> second = null;
		try {
			second = CompletableFuture.supplyAsync(() -> waitFor(this.dataSource), this.waiting);
			return second.get(MAX_WAIT.toMillis(), TimeUnit.MILLISECONDS);
		}
		catch (ExecutionException ex) {
			throw (ex.getCause() instanceof SQLException cause) ? cause : new SQLException(ex.getCause());
		}
		catch (TimeoutException | RejectedExecutionException ex) {
			giveBackLater(second);
			throw this.waiting.isShutdown() ? new SQLNonTransientConnectionException("The application shuts down", ex)
					: none(ex);
		}
		catch (InterruptedException ex) {
			giveBackLater(second);
			Thread.currentThread().interrupt();
			throw none(ex);
		}
	}

	private static void giveBackLater(@Nullable CompletableFuture<Connection> late) {
		if (late != null) {
			CompletableFuture<Void> unused = late.thenAccept(JdbcUtils::closeConnection);
		}
	}

	private static Connection waitFor(DataSource pool) {
		try {
			return pool.getConnection();
		}
		catch (SQLException ex) {
			throw new CompletionException(ex);
		}
	}

	private static SQLException none(Exception ex) {
		return new SQLTransientConnectionException(
				"No second connection within " + MAX_WAIT + " for a thread that holds one in its transaction: "
						+ "increase the size of the pool (spring.datasource.hikari.maximum-pool-size)",
				ex);
	}

}
