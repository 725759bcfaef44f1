package dev.idempotent.idempotency.jdbc;

import java.lang.reflect.Method;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;

import org.jspecify.annotations.Nullable;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/**
 * Detects that PostgreSQL will answer a commit with a rollback, which its driver does not
 * report: a statement has failed, and its exception was caught.
 */
final class PostgresTransactions {

	/**
	 * The interface of the driver, without a dependency on the driver.
	 */
	private static final @Nullable Class<?> CONNECTION = find("org.postgresql.core.BaseConnection");

	private static final @Nullable Method STATE = (CONNECTION != null)
			? ReflectionUtils.findMethod(CONNECTION, "getTransactionState") : null;

	private PostgresTransactions() {
	}

	/**
	 * Returns whether the transaction of a connection to PostgreSQL can be committed. The
	 * driver knows; behind a proxy that hides it, a statement finds out.
	 * @param connection a connection
	 * @return {@code false} if the transaction has failed, or the connection
	 */
	static boolean canCommit(Connection connection) {
		try {
			if (CONNECTION != null && STATE != null && connection.isWrapperFor(CONNECTION)) {
				Object state = ReflectionUtils.invokeMethod(STATE, connection.unwrap(CONNECTION));
				return state != null && !"FAILED".equals(state.toString());
			}
			try (Statement statement = connection.createStatement()) {
				return statement.execute("select 1");
			}
		}
		catch (SQLException ex) {
			return false;
		}
	}

	private static @Nullable Class<?> find(String name) {
		return ClassUtils.isPresent(name, PostgresTransactions.class.getClassLoader())
				? ClassUtils.resolveClassName(name, PostgresTransactions.class.getClassLoader()) : null;
	}

}
