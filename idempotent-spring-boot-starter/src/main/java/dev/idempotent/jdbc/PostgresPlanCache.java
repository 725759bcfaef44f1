package dev.idempotent.jdbc;

import java.lang.reflect.Method;
import java.sql.PreparedStatement;
import java.sql.SQLException;

import org.jspecify.annotations.Nullable;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/**
 * Prevents PostgreSQL from reusing a plan that was made when the table was empty: the
 * driver prepares a statement on the server after a few executions, and the server caches
 * the plan.
 */
public final class PostgresPlanCache {

	/**
	 * The interface of the driver, without a dependency on the driver.
	 */
	private static final @Nullable Class<?> STATEMENT = find("org.postgresql.PGStatement");

	private static final @Nullable Method THRESHOLD = (STATEMENT != null)
			? ReflectionUtils.findMethod(STATEMENT, "setPrepareThreshold", int.class) : null;

	private PostgresPlanCache() {
	}

	/**
	 * Lets PostgreSQL plan a statement at each execution. Has no effect on other drivers.
	 * @param statement a statement of any driver
	 * @throws SQLException if the driver fails
	 */
	public static void bypass(PreparedStatement statement) throws SQLException {
		if (STATEMENT != null && THRESHOLD != null && statement.isWrapperFor(STATEMENT)) {
			ReflectionUtils.invokeMethod(THRESHOLD, statement.unwrap(STATEMENT), 0);
		}
	}

	private static @Nullable Class<?> find(String name) {
		return ClassUtils.isPresent(name, PostgresPlanCache.class.getClassLoader())
				? ClassUtils.resolveClassName(name, PostgresPlanCache.class.getClassLoader()) : null;
	}

}
