package dev.idempotent.jdbc;

import java.lang.reflect.Method;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;
import org.springframework.dao.CannotAcquireLockException;
import org.springframework.dao.DataAccessException;
import org.springframework.dao.NonTransientDataAccessResourceException;
import org.springframework.dao.PessimisticLockingFailureException;
import org.springframework.dao.RecoverableDataAccessException;
import org.springframework.dao.TransientDataAccessException;
import org.springframework.jdbc.JdbcUpdateAffectedIncorrectNumberOfRowsException;
import org.springframework.jdbc.UncategorizedSQLException;
import org.springframework.jdbc.core.PreparedStatementCallback;
import org.springframework.jdbc.core.RowMapper;
import org.springframework.jdbc.core.RowMapperResultSetExtractor;
import org.springframework.jdbc.support.SQLExceptionSubclassTranslator;
import org.springframework.jdbc.support.SQLExceptionTranslator;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/**
 * Executes statements on a connection of the caller and translates their failures.
 */
public final class Statements {

	private static final SQLExceptionTranslator OTHERS = new SQLExceptionSubclassTranslator();

	private static final String TASK = "Statement";

	/**
	 * SQL states for which Spring has no exception: read-only; PostgreSQL has ended an
	 * idle or long transaction; a prepared statement is outdated, unknown or known
	 * already; an object is in use; a snapshot is too old; a foreign server is
	 * unreachable.
	 */
	private static final Set<String> PASSING = Set.of("25006", "25P03", "25P04", "0A000", "26000", "42P05", "55006",
			"72000", "HV00N");

	/**
	 * PostgreSQL's internal errors, which concurrent changes of a schema cause, too.
	 */
	private static final String INTERNAL = "XX";

	/**
	 * The codes of MySQL and MariaDB, and of H2.
	 */
	private static final Set<Integer> READ_ONLY = Set.of(1290, 1836, 90097);

	private static final Set<Integer> LOCK_TIMEOUT = Set.of(1205, 50200);

	/**
	 * MySQL and MariaDB: deadlock, MariaDB: changed since it was read; H2.
	 */
	private static final Set<Integer> CONFLICT = Set.of(1213, 1020, 40001, 90131);

	private static final String SET_IDLE_LIMIT = "set_config('idle_in_transaction_session_timeout', "
			+ "coalesce(nullif(current_setting('idle_in_transaction_session_timeout'), '0'), %s), true)";

	/**
	 * Restores a lock timeout, first, unless it is none or longer than a limit, second.
	 */
	private static final String SET_LOCK_LIMIT = "set_config('lock_timeout', case when %2$s = '0' "
			+ "or %1$s::interval between '1ms' and %2$s::interval then %1$s else %2$s end, true)";

	/**
	 * The interface of PostgreSQL's driver, without a dependency on the driver.
	 */
	private static final @Nullable Class<?> POSTGRESQL = findDriver();

	private static final @Nullable Method THRESHOLD = (POSTGRESQL != null)
			? ReflectionUtils.findMethod(POSTGRESQL, "setPrepareThreshold", int.class) : null;

	private Statements() {
	}

	/**
	 * Executes a query.
	 * @param <T> the type of a row
	 * @param connection is neither committed nor closed
	 * @param sql the query
	 * @param parameters in the order of their places
	 * @param mapper reads a row
	 * @return all rows
	 */
	public static <T> List<T> query(Connection connection, String sql, List<? extends @Nullable Object> parameters,
			RowMapper<T> mapper) {
		return run(connection, sql, false, parameters, (statement) -> rows(statement, mapper));
	}

	/**
	 * Executes a query and reads all rows.
	 * @param <T> the type of a row
	 * @param query a query with its parameters
	 * @param mapper reads a row
	 * @return all rows
	 * @throws SQLException if the driver fails
	 */
	public static <T> List<T> rows(PreparedStatement query, RowMapper<T> mapper) throws SQLException {
		query.executeQuery();
		return results(query, mapper);
	}

	/**
	 * Reads all rows of the current result.
	 * @param <T> the type of a row
	 * @param executed a statement whose current result has rows
	 * @param mapper reads a row
	 * @return all rows
	 * @throws SQLException if the driver fails
	 */
	public static <T> List<T> results(PreparedStatement executed, RowMapper<T> mapper) throws SQLException {
		try (ResultSet rows = Objects.requireNonNull(executed.getResultSet())) {
			return new RowMapperResultSetExtractor<>(mapper).extractData(rows);
		}
	}

	/**
	 * Executes a statement.
	 * @param <T> the type of the result
	 * @param connection is neither committed nor closed
	 * @param sql the statement
	 * @param replan whether PostgreSQL {@linkplain #replan plans} it at each execution
	 * @param parameters in the order of their places
	 * @param execution executes the statement with its parameters
	 * @return what the execution has returned
	 */
	public static <T> T run(Connection connection, String sql, boolean replan,
			List<? extends @Nullable Object> parameters, PreparedStatementCallback<T> execution) {
		try (PreparedStatement statement = connection.prepareStatement(sql)) {
			if (replan) {
				replan(statement);
			}
			bind(statement, parameters);
			return execution.doInPreparedStatement(statement);
		}
		catch (SQLException ex) {
			throw translate(sql, ex);
		}
	}

	/**
	 * Executes an insert, update or delete.
	 * @param connection is neither committed nor closed
	 * @param sql the statement
	 * @param parameters in the order of their places
	 * @return the number of rows
	 */
	public static int update(Connection connection, String sql, @Nullable Object... parameters) {
		return run(connection, sql, false, Arrays.asList(parameters), PreparedStatement::executeUpdate);
	}

	/**
	 * Executes an insert or delete that is one half of a move. A trigger, a rule or a
	 * policy of row level security can ignore rows without an error, so the other half
	 * must not be committed unless both change what is expected.
	 * @param connection is neither committed nor closed
	 * @param expected how many rows it must change
	 * @param sql the statement
	 * @param parameters in the order of their places
	 * @throws JdbcUpdateAffectedIncorrectNumberOfRowsException if it changes more or
	 * fewer
	 */
	public static void move(Connection connection, int expected, String sql, @Nullable Object... parameters) {
		require(expected, sql, update(connection, sql, parameters));
	}

	private static void require(int expected, String sql, int changed) {
		if (changed != expected) {
			throw new JdbcUpdateAffectedIncorrectNumberOfRowsException(sql, expected, changed);
		}
	}

	/**
	 * Executes a change of one row, which the transaction has locked, once for each list
	 * of parameters, in one batch.
	 * @param connection is neither committed nor closed
	 * @param sql the statement
	 * @param rows the parameters of each execution
	 * @throws JdbcUpdateAffectedIncorrectNumberOfRowsException if not all rows are
	 * changed, as for a {@link #move}
	 */
	public static void changeEach(Connection connection, String sql,
			List<? extends List<? extends @Nullable Object>> rows) {
		require(rows.size(), sql, updateEach(connection, sql, rows));
	}

	/**
	 * Executes an insert, update or delete once for each list of parameters, in one
	 * batch.
	 * @param connection is neither committed nor closed
	 * @param sql the statement
	 * @param rows the parameters of each execution
	 * @return the number of rows; an execution whose count the driver does not know
	 * counts as one
	 */
	public static int updateEach(Connection connection, String sql,
			List<? extends List<? extends @Nullable Object>> rows) {
		return run(connection, sql, false, List.of(), (statement) -> {
			for (List<? extends @Nullable Object> parameters : rows) {
				bind(statement, parameters);
				statement.addBatch();
			}
			return Arrays.stream(statement.executeBatch())
				.map((count) -> (count == Statement.SUCCESS_NO_INFO) ? 1 : count)
				.sum();
		});
	}

	/**
	 * Sets the parameters of a statement.
	 * @param statement a statement
	 * @param parameters in the order of their places
	 * @throws SQLException if the driver fails
	 */
	public static void bind(PreparedStatement statement, List<? extends @Nullable Object> parameters)
			throws SQLException {
		int index = 1;
		for (Object parameter : parameters) {
			if (parameter instanceof byte[] bytes) {
				statement.setBytes(index++, bytes);
			}
			else {
				statement.setObject(index++, parameter);
			}
		}
	}

	/**
	 * Lets PostgreSQL plan a statement at each execution, rather than reuse a plan that
	 * was made when the table was empty: the driver prepares a statement on the server
	 * after a few executions, and the server caches the plan. Has no effect on other
	 * drivers.
	 * @param statement a statement of any driver
	 * @throws SQLException if the driver fails
	 */
	public static void replan(PreparedStatement statement) throws SQLException {
		if (POSTGRESQL != null && THRESHOLD != null && statement.isWrapperFor(POSTGRESQL)) {
			ReflectionUtils.invokeMethod(THRESHOLD, statement.unwrap(POSTGRESQL), 0);
		}
	}

	/**
	 * Limits the wait of a change for the lock on a row, in one statement of PostgreSQL
	 * that restores the lock timeout of the session. The order is enforced by references:
	 * the change reads the part that sets the timeout, and the part that restores it
	 * needs the count of the change. The same statement {@linkplain #limitWaits limits
	 * the waits} of the transaction.
	 * @param change reads the relation "limited" and returns a row for each one that it
	 * changes, which is a row of the relation "changed"
	 * @param more further relations, each after a comma
	 * @param columns further columns of the result, each after a comma
	 * @return a statement whose first parameters are two {@linkplain #limit limits},
	 * first for the waits of the transaction, then for the wait of the change, and whose
	 * first column is the number of changed rows
	 */
	public static String limitedOnPostgres(String change, String more, String columns) {
		return "with previous as materialized (select current_setting('lock_timeout') as bound, "
				+ "cast(? as text) as longest), limited as materialized (select set_config('lock_timeout', ?, true), "
				+ SET_IDLE_LIMIT.formatted("longest") + " from previous), changed as (" + change + ")" + more
				+ " select changes.n, " + SET_LOCK_LIMIT.formatted("previous.bound", "previous.longest") + columns
				+ " from (select count(*) as n from changed) changes, previous";
	}

	/**
	 * Returns expressions that limit how long PostgreSQL keeps the current transaction
	 * without hearing of it, unless the session has a limit of its own, and how long the
	 * transaction waits for a lock, unless the session waits less. A host that dies
	 * without a word keeps its locks until then. A lock that belongs to the same request,
	 * on another connection, would never be free.
	 * @param limit the limit, or zero for none
	 * @return expressions of a query, with a comma in between
	 */
	public static String limitWaits(Duration limit) {
		return SET_IDLE_LIMIT.formatted("'" + limit(limit) + "'") + ", " + limitLocks(limit);
	}

	/**
	 * Returns an expression that limits how long the current transaction of PostgreSQL
	 * waits for a lock, unless the session waits less.
	 * @param limit the limit, or zero for none
	 * @return an expression of a query
	 */
	public static String limitLocks(Duration limit) {
		return SET_LOCK_LIMIT.formatted("current_setting('lock_timeout')", "'" + limit(limit) + "'");
	}

	/**
	 * Returns the value of a limit.
	 * @param limit the limit, or zero for none
	 * @return a number of milliseconds with its unit
	 */
	public static String limit(Duration limit) {
		return limit.isZero() ? "0" : Math.min(limit.toMillis(), Integer.MAX_VALUE) + "ms";
	}

	/**
	 * Limits the wait of a change for the lock on a row of MySQL, where the lock timeout
	 * is a setting of the session, in whole seconds.
	 * @param <T> the type of the result
	 * @param connection is neither committed nor closed
	 * @param timeout the timeout
	 * @param change executes the change on the connection
	 * @return what the change has returned
	 */
	public static <T> T limitedOnMySql(Connection connection, Duration timeout, Supplier<T> change) {
		long seconds = Math.max(1, timeout.plusMillis(999).toSeconds());
		execute(connection, "set @idempotent_lock_wait = @@session.innodb_lock_wait_timeout, "
				+ "session innodb_lock_wait_timeout = " + seconds);
		try {
			return change.get();
		}
		finally {
			execute(connection, "set session innodb_lock_wait_timeout = @idempotent_lock_wait");
		}
	}

	/**
	 * Executes a command without parameters and result.
	 * @param connection is neither committed nor closed
	 * @param sql the command
	 */
	public static void execute(Connection connection, String sql) {
		try (Statement statement = connection.createStatement()) {
			statement.execute(sql);
		}
		catch (SQLException ex) {
			throw translate(sql, ex);
		}
	}

	/**
	 * Translates a failure by the codes of the database rather than by the exception type
	 * of the driver.
	 * @param sql what failed; empty if it was not a statement
	 * @param failure the exception of the driver
	 * @return {@link CannotAcquireLockException} if a lock was not granted in time,
	 * another {@link PessimisticLockingFailureException} if the transaction can be
	 * repeated, Spring's usual translation otherwise
	 */
	public static DataAccessException translate(String sql, SQLException failure) {
		if (isLockTimeout(failure)) {
			return new CannotAcquireLockException("The lock on a row was not granted in time", failure);
		}
		if (isConflict(failure)) {
			return new PessimisticLockingFailureException("The transaction conflicts with another one", failure);
		}
		DataAccessException translated = OTHERS.translate(TASK, sql, failure);
		return (translated != null) ? translated : new UncategorizedSQLException(TASK, sql, failure);
	}

	/**
	 * Returns whether a statement that has failed may succeed later: the database was not
	 * reachable or is read-only, for now, a lock was not granted in time, or a prepared
	 * statement is outdated.
	 * @param failure as translated
	 * @return {@code false} if the database refuses the statement
	 */
	public static boolean isTransient(DataAccessException failure) {
		return failure instanceof TransientDataAccessException || failure instanceof RecoverableDataAccessException
				|| failure instanceof NonTransientDataAccessResourceException
				|| (failure.getMostSpecificCause() instanceof SQLException cause && isTransient(cause));
	}

	private static boolean isTransient(SQLException failure) {
		String state = Objects.requireNonNullElse(failure.getSQLState(), "");
		return PASSING.contains(state) || state.startsWith(INTERNAL) || READ_ONLY.contains(failure.getErrorCode());
	}

	private static boolean isLockTimeout(SQLException failure) {
		return "55P03".equals(failure.getSQLState()) || LOCK_TIMEOUT.contains(failure.getErrorCode());
	}

	private static boolean isConflict(SQLException failure) {
		return "40001".equals(failure.getSQLState()) || "40P01".equals(failure.getSQLState())
				|| CONFLICT.contains(failure.getErrorCode());
	}

	private static @Nullable Class<?> findDriver() {
		String name = "org.postgresql.PGStatement";
		return ClassUtils.isPresent(name, Statements.class.getClassLoader())
				? ClassUtils.resolveClassName(name, Statements.class.getClassLoader()) : null;
	}

}
