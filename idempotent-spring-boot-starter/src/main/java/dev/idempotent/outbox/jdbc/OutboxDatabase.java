package dev.idempotent.outbox.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.function.Function;

import javax.sql.DataSource;

import dev.idempotent.jdbc.Database;
import dev.idempotent.jdbc.Statements;
import dev.idempotent.transaction.OwnTransactions;
import dev.idempotent.transaction.TransactionGuard;
import org.jspecify.annotations.Nullable;

/**
 * The database of the outbox, and its transactions. Repeats transactions that conflict
 * with another one: every database rolls back the victim of a deadlock, and MariaDB may
 * do so even for rows that are to be skipped.
 */
final class OutboxDatabase {

	private final OwnTransactions transactions;

	private final OutboxTables tables;

	private volatile @Nullable OutboxDialect dialect;

	private volatile @Nullable Boolean suitable;

	OutboxDatabase(OwnTransactions transactions, OutboxTables tables) {
		this.transactions = transactions;
		this.tables = tables;
	}

	/**
	 * The data source whose connections transactions bind to their threads.
	 */
	DataSource dataSource() {
		return this.transactions.dataSource();
	}

	/**
	 * The expressions for time of the database.
	 */
	Database kind() {
		return dialect().database();
	}

	/**
	 * What differs between databases. The kind of the database is detected with the first
	 * connection.
	 */
	OutboxDialect dialect() {
		OutboxDialect known = this.dialect;
		return (known != null) ? known : this.transactions.run(this::dialect);
	}

	/**
	 * Returns the same with the connection of the caller: the pool may not have another
	 * one.
	 */
	OutboxDialect dialect(Connection connection) {
		OutboxDialect known = this.dialect;
		if (known == null) {
			known = detect(connection);
		}
		return known;
	}

	/**
	 * Detects it once, because a dialect keeps what it has found out about its database.
	 */
	private synchronized OutboxDialect detect(Connection connection) {
		OutboxDialect known = this.dialect;
		if (known == null) {
			known = OutboxDialect.of(Database.of(connection, "An outbox", "set idempotent.outbox.enabled=false"),
					this.tables);
			this.dialect = known;
		}
		return known;
	}

	/**
	 * Runs work on the connection of the calling thread's transaction: the pool may not
	 * have another one.
	 */
	<T extends @Nullable Object> T join(Function<Connection, T> work) {
		return TransactionGuard.join(dataSource(), work);
	}

	/**
	 * Runs statements that commit one by one.
	 */
	<T> T run(Function<Connection, T> work) {
		return this.transactions.run(work);
	}

	/**
	 * Runs queries, which see committed rows only.
	 */
	<T> T query(Function<Connection, T> work) {
		return commitsAtOnce() ? repeat(work) : runInTransaction(work);
	}

	/**
	 * Runs a change of the dialect that a crash of the server may undo, in one round trip
	 * if the database can do so.
	 */
	<T> T change(Function<Connection, T> work) {
		return (dialect().changesAtOnce() && commitsAtOnce()) ? repeat(work) : runInTransaction(work);
	}

	private <T> T repeat(Function<Connection, T> work) {
		return OwnTransactions.repeat(OutboxDialect.MAX_WAIT, () -> run(work));
	}

	/**
	 * Returns whether the isolation of the pool is suitable for statements that commit
	 * one by one.
	 */
	private boolean commitsAtOnce() {
		Boolean known = this.suitable;
		if (known == null) {
			known = run(this::isSuitable);
			this.suitable = known;
		}
		return known;
	}

	private boolean isSuitable(Connection connection) {
		try {
			return dialect(connection).isSuitable(connection.getTransactionIsolation());
		}
		catch (SQLException ex) {
			throw Statements.translate("", ex);
		}
	}

	/**
	 * Runs work once, in one transaction.
	 */
	<T> T runOnce(Function<Connection, T> work) {
		return this.transactions.runInTransaction((connection) -> {
			// With this connection, because work that asks for it may hold the only one.
			dialect(connection).limitLocks(connection);
			return work.apply(connection);
		});
	}

	/**
	 * Runs work in one transaction, which is repeated if it conflicts with another one.
	 */
	<T> T runInTransaction(Function<Connection, T> work) {
		return OwnTransactions.repeat(OutboxDialect.MAX_WAIT, () -> runOnce(work));
	}

	/**
	 * Changes rows batch by batch.
	 * @param first the row behind which to begin
	 * @param limit the size of a full batch
	 * @param batch changes the next rows behind the given one, and returns them in order
	 * @return how many rows were changed
	 */
	static <R> int inBatches(R first, int limit, Function<R, List<R>> batch) {
		List<R> changed = batch.apply(first);
		int done = changed.size();
		while (changed.size() == limit) {
			changed = batch.apply(changed.get(limit - 1));
			done += changed.size();
		}
		return done;
	}

}
