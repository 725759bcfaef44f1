package dev.idempotent.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

import org.jspecify.annotations.Nullable;
import org.springframework.dao.CannotAcquireLockException;
import org.springframework.dao.DataAccessException;
import org.springframework.dao.PessimisticLockingFailureException;
import org.springframework.jdbc.UncategorizedSQLException;
import org.springframework.jdbc.core.RowMapper;
import org.springframework.jdbc.support.SQLExceptionSubclassTranslator;
import org.springframework.jdbc.support.SQLExceptionTranslator;

/**
 * Executes statements on a connection of the caller and translates their failures.
 */
public final class Statements {

	private static final SQLExceptionTranslator OTHERS = new SQLExceptionSubclassTranslator();

	private static final String TASK = "Statement";

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
		try (PreparedStatement statement = connection.prepareStatement(sql)) {
			bind(statement, parameters);
			try (ResultSet rows = statement.executeQuery()) {
				List<T> read = new ArrayList<>();
				while (rows.next()) {
					read.add(mapper.mapRow(rows, read.size()));
				}
				return read;
			}
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
		try (PreparedStatement statement = connection.prepareStatement(sql)) {
			bind(statement, Arrays.asList(parameters));
			return statement.executeUpdate();
		}
		catch (SQLException ex) {
			throw translate(sql, ex);
		}
	}

	/**
	 * Executes an insert, update or delete once for each list of parameters, in one
	 * batch.
	 * @param connection is neither committed nor closed
	 * @param sql the statement
	 * @param rows the parameters of each execution
	 */
	public static void updateEach(Connection connection, String sql,
			List<? extends List<? extends @Nullable Object>> rows) {
		try (PreparedStatement statement = connection.prepareStatement(sql)) {
			for (List<? extends @Nullable Object> parameters : rows) {
				bind(statement, parameters);
				statement.addBatch();
			}
			statement.executeBatch();
		}
		catch (SQLException ex) {
			throw translate(sql, ex);
		}
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

	private static boolean isLockTimeout(SQLException failure) {
		return "55P03".equals(failure.getSQLState()) || switch (failure.getErrorCode()) {
			// MySQL and MariaDB; H2
			case 1205, 50200 -> true;
			default -> false;
		};
	}

	private static boolean isConflict(SQLException failure) {
		String state = (failure.getSQLState() != null) ? failure.getSQLState() : "";
		return state.equals("40001") || state.equals("40P01") || switch (failure.getErrorCode()) {
			// MySQL and MariaDB: deadlock, MariaDB: changed since it was read; H2
			case 1213, 1020, 40001, 90131 -> true;
			default -> false;
		};
	}

}
