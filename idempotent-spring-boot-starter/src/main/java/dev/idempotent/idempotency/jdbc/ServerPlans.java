package dev.idempotent.idempotency.jdbc;

import java.lang.reflect.Method;
import java.sql.PreparedStatement;
import java.sql.SQLException;

import org.jspecify.annotations.Nullable;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/**
 * Keeps PostgreSQL from using the plan that it made for a statement when the table was
 * empty: the driver prepares what it has sent a few times on the server, where the plan
 * is kept.
 */
final class ServerPlans {

	/**
	 * The driver's interface, without depending on the driver.
	 */
	private static final @Nullable Class<?> STATEMENT = find("org.postgresql.PGStatement");

	private static final @Nullable Method THRESHOLD = (STATEMENT != null)
			? ReflectionUtils.findMethod(STATEMENT, "setPrepareThreshold", int.class) : null;

	private ServerPlans() {
	}

	/**
	 * Sees to it that a statement is planned each time. Other drivers than PostgreSQL's
	 * own are left as they are.
	 * @param statement a statement on any database
	 * @throws SQLException if the driver fails
	 */
	static void avoid(PreparedStatement statement) throws SQLException {
		if (STATEMENT != null && THRESHOLD != null && statement.isWrapperFor(STATEMENT)) {
			ReflectionUtils.invokeMethod(THRESHOLD, statement.unwrap(STATEMENT), 0);
		}
	}

	private static @Nullable Class<?> find(String name) {
		return ClassUtils.isPresent(name, ServerPlans.class.getClassLoader())
				? ClassUtils.resolveClassName(name, ServerPlans.class.getClassLoader()) : null;
	}

}
