package dev.idempotent.outbox.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.Function;

import javax.sql.DataSource;

import dev.idempotent.jdbc.Database;
import dev.idempotent.jdbc.Statements;
import dev.idempotent.transaction.OwnTransactions;
import dev.idempotent.transaction.TransactionGuard;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.PreparedStatementCallback;

/**
 * The database of the outbox. Repeats transactions that conflict with another one: every
 * database rolls back the victim of a deadlock, and MariaDB may do so even for rows that
 * are to be skipped.
 */
final class OutboxDatabase {

	/**
	 * For locks that are not granted in time: MySQL waits up to 50 seconds for each.
	 */
	private static final Duration MAX_WAIT = Duration.ofSeconds(10);

	/**
	 * PostgreSQL would wait without end for a row that an operator has locked.
	 */
	private static final String LIMIT_LOCKS = Statements.limitLocks(MAX_WAIT);

	/**
	 * The tables can be empty for hours and then fill within seconds: a plan that was
	 * made for an empty one must not read a full one. With indexes only, one plan suits
	 * any number of rows; PostgreSQL would plan statements for a few rows each time,
	 * which takes longer than to execute them. Lost claims and deletes only repeat
	 * events.
	 */
	private static final String BY_INDEX = "set_config('enable_seqscan', 'off', true), "
			+ "set_config('enable_bitmapscan', 'off', true), set_config('plan_cache_mode', 'force_generic_plan', true)";

	private static final String SETTINGS = "select " + BY_INDEX + ", set_config('synchronous_commit', 'off', true), "
			+ LIMIT_LOCKS + "; ";

	/**
	 * The same for a statement in a transaction of the application, whose own statements
	 * must not be planned with these settings. What {@link #AS_BEFORE} restores is kept
	 * in settings of the transaction.
	 */
	private static final String KEEP_AND_BY_INDEX = "select set_config('idempotent.seqscan', current_setting('enable_seqscan'), true), "
			+ "set_config('idempotent.bitmapscan', current_setting('enable_bitmapscan'), true), "
			+ "set_config('idempotent.plans', current_setting('plan_cache_mode'), true), " + BY_INDEX;

	private static final String AS_BEFORE = "; select set_config('enable_seqscan', current_setting('idempotent.seqscan'), true), "
			+ "set_config('enable_bitmapscan', current_setting('idempotent.bitmapscan'), true), "
			+ "set_config('plan_cache_mode', current_setting('idempotent.plans'), true)";

	private final OwnTransactions transactions;

	private volatile @Nullable Database detected;

	private volatile @Nullable Boolean suitable;

	OutboxDatabase(OwnTransactions transactions) {
		this.transactions = transactions;
	}

	/**
	 * The data source whose connections transactions bind to their threads.
	 */
	DataSource dataSource() {
		return this.transactions.dataSource();
	}

	/**
	 * The kind of database, detected with the first connection.
	 */
	Database kind() {
		Database known = this.detected;
		return (known != null) ? known : this.transactions.run(this::kind);
	}

	Database kind(Connection connection) {
		Database known = this.detected;
		if (known == null) {
			known = Database.of(connection, "An outbox", "set idempotent.outbox.enabled=false");
			this.detected = known;
		}
		return known;
	}

	/**
	 * Runs work on the connection of the calling thread's transaction: the pool may not
	 * have another one.
	 */
	<T> T join(Function<Connection, T> work) {
		return TransactionGuard.join(dataSource(), work);
	}

	/**
	 * Runs statements that commit one by one.
	 */
	<T> T run(Function<Connection, T> work) {
		return this.transactions.run(work);
	}

	/**
	 * Runs one query, which sees committed rows only. PostgreSQL would count a query at
	 * SERIALIZABLE, if that is the default of the pool, among the reasons to abort
	 * transactions of the application.
	 */
	<T> T query(Function<Connection, T> work) {
		return commitsAtOnce() ? run(work) : runInTransaction(work);
	}

	/**
	 * Runs one statement of PostgreSQL that finds its rows by index, in one round trip: a
	 * query, or a change that a crash of the server may undo. Repeats it if it conflicts
	 * with another one.
	 * @param arrays the columns of the {@linkplain #rows rows} that the statement reads
	 * @param result reads what the statement has returned
	 */
	<T> T runAtOnce(String sql, List<Long[]> arrays, PreparedStatementCallback<T> result) {
		boolean single = isSingle(arrays);
		Function<Connection, T> work = (connection) -> {
			// The settings end with the transaction, which is this call if there is no
			// other.
			try (PreparedStatement statement = connection.prepareStatement(SETTINGS + sql)) {
				int index = 1;
				for (Long[] array : arrays) {
					statement.setObject(index++, single ? array[0] : connection.createArrayOf("bigint", array));
				}
				statement.execute();
				statement.getMoreResults();
				return result.doInPreparedStatement(statement);
			}
			catch (SQLException ex) {
				throw Statements.translate(sql, ex);
			}
		};
		return commitsAtOnce() ? OwnTransactions.repeat(MAX_WAIT, () -> run(work)) : runInTransaction(work);
	}

	/**
	 * Runs one statement of PostgreSQL that finds its row by index in the transaction of
	 * the calling thread, in one round trip.
	 * @param parameters an array of numbers is a column of {@linkplain #rows rows}
	 * @param setting a setting for the rest of the transaction, or an empty string
	 * @param result reads what the statement has returned
	 */
	<T> T joinAtOnce(String setting, String sql, List<Object> parameters, PreparedStatementCallback<T> result) {
		return execute(KEEP_AND_BY_INDEX + (setting.isEmpty() ? "" : ", " + setting) + "; " + sql + AS_BEFORE,
				parameters, result);
	}

	/**
	 * Does the same for the last statement of the transaction, whose settings end with
	 * it.
	 */
	<T> T joinAtLast(String sql, List<Object> parameters, PreparedStatementCallback<T> result) {
		return execute("select " + BY_INDEX + "; " + sql, parameters, result);
	}

	private <T> T execute(String all, List<Object> parameters, PreparedStatementCallback<T> result) {
		return join((connection) -> {
			try (PreparedStatement statement = connection.prepareStatement(all)) {
				List<Object> values = new ArrayList<>();
				for (Object parameter : parameters) {
					values.add((parameter instanceof Long[] array) ? connection.createArrayOf("bigint", array)
							: parameter);
				}
				Statements.bind(statement, values);
				statement.execute();
				statement.getMoreResults();
				return result.doInPreparedStatement(statement);
			}
			catch (SQLException ex) {
				throw Statements.translate(all, ex);
			}
		});
	}

	/**
	 * The rows of the arrays that {@link #runAtOnce} is given, as a relation. A single
	 * row, such as an event that is delivered at once, takes a tenth less time without
	 * arrays.
	 */
	static String rows(List<Long[]> arrays) {
		boolean single = isSingle(arrays);
		String parameters = String.join(", ", Collections.nCopies(arrays.size(), single ? "?::bigint" : "?::bigint[]"));
		return single ? "(select " + parameters + ")" : "unnest(" + parameters + ")";
	}

	private static boolean isSingle(List<Long[]> arrays) {
		return !arrays.isEmpty() && arrays.get(0).length == 1;
	}

	/**
	 * Returns whether the isolation of the pool is suitable for statements that commit
	 * one by one.
	 */
	private boolean commitsAtOnce() {
		Boolean known = this.suitable;
		if (known == null) {
			known = run((connection) -> isSuitable(kind(connection), connection));
			this.suitable = known;
		}
		return known;
	}

	private static boolean isSuitable(Database kind, Connection connection) {
		try {
			int isolation = connection.getTransactionIsolation();
			return isolation == Connection.TRANSACTION_READ_COMMITTED
					|| (kind != Database.POSTGRESQL && isolation == Connection.TRANSACTION_REPEATABLE_READ);
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
			if (kind(connection) == Database.POSTGRESQL) {
				Statements.execute(connection, "select " + LIMIT_LOCKS);
			}
			return work.apply(connection);
		});
	}

	/**
	 * Runs work in one transaction, which is repeated if it conflicts with another one.
	 */
	<T> T runInTransaction(Function<Connection, T> work) {
		return OwnTransactions.repeat(MAX_WAIT, () -> runOnce(work));
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
