package dev.idempotent.saga.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

import dev.idempotent.jdbc.PostgresPlanCache;
import dev.idempotent.jdbc.Statements;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.RowMapper;

/**
 * Executes statements on a connection of the caller. PostgreSQL plans each execution, as
 * the tables may have been empty when it planned the last one.
 */
final class SagaStatements {

	private SagaStatements() {
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
			Execution<T> execution) {
		try (PreparedStatement statement = connection.prepareStatement(sql)) {
			PostgresPlanCache.bypass(statement);
			Statements.bind(statement, parameters);
			return execution.of(statement);
		}
		catch (SQLException ex) {
			throw Statements.translate(sql, ex);
		}
	}

	private interface Execution<T> {

		T of(PreparedStatement statement) throws SQLException;

	}

}
