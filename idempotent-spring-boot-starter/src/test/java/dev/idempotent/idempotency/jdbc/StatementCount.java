package dev.idempotent.idempotency.jdbc;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.Statement;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Counts the statements of a connection.
 */
public final class StatementCount {

	private final AtomicInteger count = new AtomicInteger();

	/**
	 * Wraps the connection.
	 */
	public Connection of(Connection connection) {
		return proxy(Connection.class, (proxy, method, arguments) -> {
			Object result = invoke(connection, method, arguments);
			return (result instanceof Statement statement) ? counted(statement) : result;
		});
	}

	/**
	 * The number of statements since the last call.
	 */
	public int take() {
		return this.count.getAndSet(0);
	}

	private PreparedStatement counted(Statement statement) {
		return proxy(PreparedStatement.class, (proxy, method, arguments) -> {
			if (method.getName().startsWith("execute")) {
				this.count.incrementAndGet();
			}
			return invoke(statement, method, arguments);
		});
	}

	private static Object invoke(Object target, Method method, Object[] arguments) throws Throwable {
		try {
			return method.invoke(target, arguments);
		}
		catch (InvocationTargetException ex) {
			throw ex.getTargetException();
		}
	}

	private static <T> T proxy(Class<T> type, InvocationHandler handler) {
		return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] { type }, handler));
	}

}
