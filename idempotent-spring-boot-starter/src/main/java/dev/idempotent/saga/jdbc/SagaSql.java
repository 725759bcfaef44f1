package dev.idempotent.saga.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;

import dev.idempotent.jdbc.Database;
import dev.idempotent.jdbc.PostgresPlanCache;
import dev.idempotent.jdbc.Statements;
import dev.idempotent.saga.SagaStatus;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.PreparedStatementCallback;
import org.springframework.jdbc.core.RowMapper;

/**
 * Expressions over the tables, and the execution of statements on a connection of the
 * caller. PostgreSQL plans each execution, as the tables may have been empty when it
 * planned the last one.
 */
final class SagaSql {

	static final List<SagaStatus> OPEN = List.of(SagaStatus.COMPENSATING, SagaStatus.EXECUTING, SagaStatus.STARTED);

	static final List<SagaStatus> ENDED = List.of(SagaStatus.COMPLETED, SagaStatus.COMPENSATED);

	/**
	 * The status in conditions of rows that are found by their ids. PostgreSQL would
	 * otherwise prefer the index of the status while statistics count few open sagas, and
	 * read all of them with the dead versions of those that have ended.
	 */
	static final String UNINDEXED_STATUS = "coalesce(status, '')";

	/**
	 * The condition that a saga that is found by its id is open.
	 */
	static final String IS_OPEN = UNINDEXED_STATUS + " in ('COMPENSATING', 'EXECUTING', 'STARTED')";

	private SagaSql() {
	}

	/**
	 * The end of a lease, at most the deadline unless the saga is undone.
	 * @return an expression whose only parameter is the lease in milliseconds
	 */
	static String lease(Database database) {
		return lease(database, "status = 'COMPENSATING'");
	}

	/**
	 * The end of the lease of a saga that is taken over, with the condition of
	 * {@link #isUndone}.
	 * @return an expression whose only parameter is the lease in milliseconds
	 */
	static String leaseAfterTakeOver(Database database) {
		return lease(database, isUndone(database));
	}

	/**
	 * The condition that the next owner of a saga undoes it.
	 */
	static String isUndone(Database database) {
		return "status = 'COMPENSATING' or deadline <= " + database.now();
	}

	private static String lease(Database database, String unlimited) {
		return "least(" + database.millisFromNow() + ", case when " + unlimited + " then " + database.never()
				+ " else deadline end)";
	}

	/**
	 * The condition that a saga can be written in a status.
	 */
	static String inTime(SagaStatus status, Database database) {
		return (status == SagaStatus.COMPENSATING) ? "" : " and deadline > " + database.now();
	}

	/**
	 * The condition that the preceding column has one of some values.
	 */
	static String in(int values) {
		return " in (" + String.join(", ", Collections.nCopies(values, "?")) + ")";
	}

	static <T> List<T> query(Connection connection, String sql, List<? extends @Nullable Object> parameters,
			RowMapper<T> mapper) {
		return run(connection, sql, parameters, (statement) -> {
			try (ResultSet rows = statement.executeQuery()) {
				List<T> read = new ArrayList<>();
				while (rows.next()) {
					read.add(mapper.mapRow(rows, read.size()));
				}
				return read;
			}
		});
	}

	/**
	 * Executes a query that returns a number.
	 */
	static int number(Connection connection, String sql, List<? extends @Nullable Object> parameters) {
		return query(connection, sql, parameters, (row, number) -> row.getInt(1)).get(0);
	}

	static boolean exists(Connection connection, String sql, @Nullable Object... parameters) {
		return !query(connection, sql, Arrays.asList(parameters), (row, number) -> row.getInt(1)).isEmpty();
	}

	static int update(Connection connection, String sql, List<? extends @Nullable Object> parameters) {
		return run(connection, sql, parameters, PreparedStatement::executeUpdate);
	}

	static int update(Connection connection, String sql, @Nullable Object... parameters) {
		return update(connection, sql, Arrays.asList(parameters));
	}

	/**
	 * Executes a command without a result.
	 */
	static void execute(Connection connection, String sql) {
		boolean unused = run(connection, sql, List.of(), PreparedStatement::execute);
	}

	private static <T> T run(Connection connection, String sql, List<? extends @Nullable Object> parameters,
			PreparedStatementCallback<T> execution) {
		try (PreparedStatement statement = connection.prepareStatement(sql)) {
			PostgresPlanCache.bypass(statement);
			Statements.bind(statement, parameters);
			return execution.doInPreparedStatement(statement);
		}
		catch (SQLException ex) {
			throw Statements.translate(sql, ex);
		}
	}

}
