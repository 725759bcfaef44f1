package dev.idempotent.outbox.jdbc;

import java.sql.Connection;
import java.util.function.Function;

import dev.idempotent.jdbc.OwnConnections;

import org.springframework.dao.CannotAcquireLockException;
import org.springframework.dao.PessimisticLockingFailureException;

/**
 * Repeats at once what the database has undone because another transaction got in the
 * way, as MariaDB does to rows that it was told to skip.
 */
final class RepeatedTransaction {

	private static final int ATTEMPTS = 10;

	private final OwnConnections connections;

	RepeatedTransaction(OwnConnections connections) {
		this.connections = connections;
	}

	<T> T run(Function<Connection, T> work) {
		int attempt = 1;
		while (true) {
			try {
				return this.connections.runInTransaction(work);
			}
			catch (CannotAcquireLockException ex) {
				// It has waited long enough.
				throw ex;
			}
			catch (PessimisticLockingFailureException ex) {
				if (attempt++ == ATTEMPTS) {
					throw ex;
				}
			}
		}
	}

}
