package dev.idempotent.outbox.crash;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLNonTransientConnectionException;

import javax.sql.DataSource;

import dev.idempotent.testing.RestartedApplication;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.datasource.DelegatingDataSource;

/**
 * Loses replies to commits, of the application and of the relay.
 */
final class LosingDataSource extends DelegatingDataSource {

	private static final int LOST = 3;

	private final Storm storm;

	LosingDataSource(DataSource real, Storm storm) {
		super(real);
		this.storm = storm;
	}

	@Override
	public Connection getConnection() throws SQLException {
		Connection real = super.getConnection();
		return (Connection) Proxy.newProxyInstance(Connection.class.getClassLoader(),
				new Class<?>[] { Connection.class }, (proxy, method, arguments) -> call(real, method, arguments));
	}

	private @Nullable Object call(Connection real, Method method, Object @Nullable [] arguments) throws Throwable {
		try {
			Object result = method.invoke(real, arguments);
			if (method.getName().equals("commit") && this.storm.strikes(LOST)) {
				RestartedApplication.report("fault lost commit reply");
				throw new SQLNonTransientConnectionException("The reply is lost", "08006");
			}
			return result;
		}
		catch (InvocationTargetException ex) {
			throw ex.getTargetException();
		}
	}

}
