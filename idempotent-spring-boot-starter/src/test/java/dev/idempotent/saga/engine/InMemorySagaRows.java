package dev.idempotent.saga.engine;

import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;

import dev.idempotent.idempotency.IdempotencyKey;
import org.jspecify.annotations.Nullable;
import org.springframework.dao.CannotAcquireLockException;
import org.springframework.dao.InvalidDataAccessApiUsageException;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * The rows of sagas, with the locks of transactions and the versions that they have not
 * committed.
 */
final class InMemorySagaRows {

	/**
	 * How long the operations of an owner wait for a lock.
	 */
	private static final Duration LONG = Duration.ofMinutes(1);

	private final Map<IdempotencyKey, Row> rows = new HashMap<>();

	synchronized @Nullable InMemorySaga committed(IdempotencyKey id) {
		Row row = this.rows.get(id);
		return (row != null) ? row.committed : null;
	}

	/**
	 * Returns the sagas that no transaction has locked.
	 */
	synchronized List<InMemorySaga> unlocked() {
		return this.rows.values()
			.stream()
			.filter((row) -> row.transaction == null && row.committed != null)
			.map((row) -> row.committed)
			.toList();
	}

	synchronized Collection<InMemorySaga> committed() {
		return this.rows.values().stream().map((row) -> row.committed).filter((saga) -> saga != null).toList();
	}

	synchronized boolean insert(InMemorySaga saga, Duration lockTimeout) {
		Row row = free(saga.id, lockTimeout);
		if (row.committed != null) {
			return false;
		}
		row.committed = saga;
		return true;
	}

	synchronized void remove(IdempotencyKey id) {
		free(id, LONG).committed = null;
	}

	/**
	 * Commits a change of a saga, unless it is refused.
	 */
	synchronized boolean change(IdempotencyKey id, Predicate<InMemorySaga> change) {
		Row row = free(id, LONG);
		InMemorySaga next = (row.committed != null) ? new InMemorySaga(row.committed) : null;
		if (next == null || !change.test(next)) {
			return false;
		}
		row.committed = next;
		return true;
	}

	synchronized boolean insertInTransaction(InMemorySaga saga, Duration lockTimeout) {
		Row row = locked(saga.id, lockTimeout);
		if (row.own != null) {
			return false;
		}
		row.own = saga;
		return true;
	}

	synchronized boolean changeInTransaction(IdempotencyKey id, Predicate<InMemorySaga> change) {
		Row row = locked(id, LONG);
		InMemorySaga next = (row.own != null) ? new InMemorySaga(row.own) : null;
		if (next == null || !change.test(next)) {
			return false;
		}
		row.own = next;
		return true;
	}

	private Row locked(IdempotencyKey id, Duration lockTimeout) {
		if (!TransactionSynchronizationManager.isActualTransactionActive()) {
			throw new InvalidDataAccessApiUsageException("There is no transaction");
		}
		Row row = this.rows.computeIfAbsent(id, (key) -> new Row());
		if (row.transaction != Thread.currentThread()) {
			row = free(id, lockTimeout);
			row.transaction = Thread.currentThread();
			row.own = row.committed;
			TransactionSynchronizationManager.registerSynchronization(new End(row));
		}
		return row;
	}

	private Row free(IdempotencyKey id, Duration lockTimeout) {
		Row row = this.rows.computeIfAbsent(id, (key) -> new Row());
		long end = System.nanoTime() + lockTimeout.toNanos();
		while (row.transaction != null) {
			long left = (end - System.nanoTime()) / 1_000_000;
			if (left <= 0) {
				throw new CannotAcquireLockException("The lock on a row was not granted in time");
			}
			try {
				wait(left);
			}
			catch (InterruptedException ex) {
				Thread.currentThread().interrupt();
				throw new CannotAcquireLockException("The wait for the lock on a row was interrupted", ex);
			}
		}
		return row;
	}

	private synchronized void end(Row row, boolean commit) {
		row.committed = commit ? row.own : row.committed;
		row.own = null;
		row.transaction = null;
		notifyAll();
	}

	private static final class Row {

		private @Nullable InMemorySaga committed;

		private @Nullable Thread transaction;

		private @Nullable InMemorySaga own;

	}

	private final class End implements TransactionSynchronization {

		private final Row row;

		End(Row row) {
			this.row = row;
		}

		@Override
		public void afterCompletion(int status) {
			end(this.row, status == STATUS_COMMITTED);
		}

	}

}
