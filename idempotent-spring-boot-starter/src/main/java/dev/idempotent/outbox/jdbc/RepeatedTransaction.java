package dev.idempotent.outbox.jdbc;

import java.sql.Connection;
import java.time.Duration;
import java.util.function.Function;

import dev.idempotent.jdbc.NonTransactionalConnections;
import org.springframework.dao.CannotAcquireLockException;
import org.springframework.dao.PessimisticLockingFailureException;

/**
 * Repeats at once what the database has undone because another transaction got in the
 * way, as each database does to the victim of a deadlock, and MariaDB to rows that it was
 * told to skip.
 */
final class RepeatedTransaction {

	private static final int ATTEMPTS = 10;

	/**
	 * For locks that are not granted in time: MySQL may wait for each for a minute.
	 */
	private static final Duration PATIENCE = Duration.ofSeconds(10);

	private final NonTransactionalConnections connections;

	RepeatedTransaction(NonTransactionalConnections connections) {
		this.connections = connections;
	}

	<T> T run(Function<Connection, T> work) {
		long begun = System.nanoTime();
		int attempt = 1;
		while (true) {
			try {
				return this.connections.runInTransaction(work);
			}
			catch (PessimisticLockingFailureException ex) {
				boolean waited = ex instanceof CannotAcquireLockException;
				if (attempt++ == ATTEMPTS || (waited && System.nanoTime() - begun >= PATIENCE.toNanos())) {
					throw ex;
				}
			}
		}
	}

}
