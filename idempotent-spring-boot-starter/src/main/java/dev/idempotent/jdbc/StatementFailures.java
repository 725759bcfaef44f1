package dev.idempotent.jdbc;

import java.sql.SQLException;

import org.springframework.dao.CannotAcquireLockException;
import org.springframework.dao.DataAccessException;
import org.springframework.dao.PessimisticLockingFailureException;
import org.springframework.jdbc.UncategorizedSQLException;
import org.springframework.jdbc.support.SQLExceptionSubclassTranslator;
import org.springframework.jdbc.support.SQLExceptionTranslator;

/**
 * Gives each failure of a statement its Spring name, by what the databases say and not by
 * how their drivers sort it.
 */
public final class StatementFailures {

	private static final SQLExceptionTranslator OTHERS = new SQLExceptionSubclassTranslator();

	private static final String TASK = "Statement";

	private StatementFailures() {
	}

	/**
	 * Translates a failure.
	 * @param sql what failed; empty if it was no statement
	 * @param failure what the driver says
	 * @return {@link CannotAcquireLockException} if a lock was waited for in vain,
	 * another {@link PessimisticLockingFailureException} if it may go well when tried
	 * again, what Spring calls it otherwise
	 */
	public static DataAccessException translate(String sql, SQLException failure) {
		if (isLockTimeout(failure)) {
			return new CannotAcquireLockException("The lock on a row was not granted in time", failure);
		}
		if (isConflict(failure)) {
			return new PessimisticLockingFailureException("Another transaction got in the way", failure);
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
