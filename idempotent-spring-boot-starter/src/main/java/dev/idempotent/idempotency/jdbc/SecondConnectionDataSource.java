package dev.idempotent.idempotency.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

import javax.sql.DataSource;

import dev.idempotent.work.Workers;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.support.JdbcUtils;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Bounds the wait of threads that already hold a connection of the same pool: as many
 * such threads as the pool has connections would block each other.
 */
final class SecondConnectionDataSource extends DelegatingDataSource {

	/**
	 * Far below the timeout of a pool, which is 30 seconds for HikariCP.
	 */
	static final Duration MAX_WAIT = Duration.ofSeconds(2);

	private static final int MAX_WAITING = 64;

	private static final Executor waiting = new ThreadPoolExecutor(0, MAX_WAITING, 10, TimeUnit.SECONDS,
			new SynchronousQueue<>(), Workers.daemons("idempotency-connection-"));

	SecondConnectionDataSource(DataSource pool) {
		super(pool);
	}

	@Override
	public Connection getConnection() throws SQLException {
		DataSource pool = obtainTargetDataSource();
		return TransactionSynchronizationManager.hasResource(pool) ? second(pool) : pool.getConnection();
	}

	private static Connection second(DataSource pool) throws SQLException {
		@Nullable CompletableFuture<Connection> second = null;
		try {
			second = CompletableFuture.supplyAsync(() -> open(pool), waiting);
			return second.get(MAX_WAIT.toMillis(), TimeUnit.MILLISECONDS);
		}
		catch (ExecutionException ex) {
			throw (ex.getCause() instanceof SQLException cause) ? cause : new SQLException(ex.getCause());
		}
		catch (TimeoutException | RejectedExecutionException ex) {
			giveBackLater(second);
			throw none(ex);
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

	private static Connection open(DataSource pool) {
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
