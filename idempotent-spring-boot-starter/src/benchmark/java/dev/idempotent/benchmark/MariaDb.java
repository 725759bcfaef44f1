package dev.idempotent.benchmark;

import java.lang.reflect.Method;
import java.util.Objects;

import com.zaxxer.hikari.HikariDataSource;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.springframework.beans.BeanUtils;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/**
 * The MariaDB of the tests, which are on the class path with the profile {@code mariadb}
 * only.
 */
public final class MariaDb implements BeforeAllCallback {

	private final BeforeAllCallback server = (BeforeAllCallback) BeanUtils
		.instantiateClass(ClassUtils.resolveClassName("dev.idempotent.testing.RealMariaDb", null));

	@Override
	public void beforeAll(ExtensionContext context) throws Exception {
		this.server.beforeAll(context);
	}

	/**
	 * The address of the server.
	 * @return to be followed by the name of a database
	 */
	public String url() {
		Method connect = Objects
			.requireNonNull(ReflectionUtils.findMethod(this.server.getClass(), "connect", String.class));
		try (HikariDataSource pool = (HikariDataSource) Objects
			.requireNonNull(ReflectionUtils.invokeMethod(connect, this.server, "jdbc:mariadb://127.0.0.1:%d/"))) {
			return pool.getJdbcUrl();
		}
	}

}
